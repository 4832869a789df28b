"""What is to be run is in the log before anything is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.engine import Engine
from harness.execution import campaign
from harness.planning.shards import Shard, shard_of
from harness.proof.plans import load_plan, plan_path
from harness.results.store import Store, join
from tests.fabricate import copy_repository, plan_of, planned_of, put_run


class Notes(Silent):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


@pytest.fixture
def run(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Layout, list[list[str]], Notes]:
    """A campaign of three cells, one of them stored, in which no container is started."""
    layout, notes = copy_repository(repository, tmp_path), Notes()
    plan = plan_of(layout, ["als_wr"], (5, 6, 7))
    put_run(layout, planned_of(plan.cells[0]))
    (layout.local / "log.jsonl").unlink()
    seen: list[list[str]] = []

    def take_turns(*_: Any) -> None:
        seen.append([f"{leaf.kind} {leaf.scope}" for leaf in Store(layout.runs).log.leaves()])

    monkeypatch.setattr(campaign, "take_turns", take_turns)
    monkeypatch.setattr(campaign, "_images", lambda *_: {"als_wr": None})
    monkeypatch.setattr(campaign, "_tidy", lambda *_: None)
    joined = join(plan, Store(layout.runs), records=True)
    engine = cast(Engine, None)
    for _ in range(2):
        campaign.run_cells(layout, joined, engine, progress=notes, name="three")
    campaign.run_cells(layout, joined[:1], engine, progress=notes, name="nothing is left of it")
    return layout, seen, notes


def test_the_plan_is_there_when_the_first_run_begins(run: tuple[Layout, list[list[str]], Notes]) -> None:
    layout, seen, _ = run
    old = "import repurposing: als_wr/published on synthetic, random-5"
    assert seen == [[old, "plan three"]] * 2
    leaf = Store(layout.runs).log.leaves()[-1]
    assert [cell.label for cell in load_plan(layout.local, leaf.plan)] == [
        f"repurposing: als_wr/published on synthetic, random-{seed}" for seed in (5, 6, 7)
    ]


def test_a_person_is_told_once_of_runs_from_before_the_log(run: tuple[Layout, list[list[str]], Notes]) -> None:
    _, _, notes = run
    assert [text for text in notes.texts if "older than the log" in text] == [notes.texts[0]]


def test_each_shard_tells_of_the_whole_plan(run: tuple[Layout, list[list[str]], Notes], tmp_path: Path) -> None:
    """So that no log of a shard says less than was planned, and all of them say the same."""
    layout, _, notes = run
    plan, digests = plan_of(layout, ["als_wr"], (5, 6, 7)), []
    for number in (1, 2):
        here = Layout(layout.root, layout.cache, tmp_path / f"machine-{number}")
        shard = shard_of(plan, Shard(number, 2), {})
        joined = join(shard, Store(here.runs), records=True)
        campaign.run_cells(here, joined, cast(Engine, None), name=plan.name, announced=plan.cells, progress=notes)
        (leaf,) = Store(here.runs).log.leaves()
        assert len(load_plan(here.local, leaf.plan)) == 3 > len(shard.cells)
        digests.append((leaf.scope, leaf.plan))
    assert digests[0] == digests[1] and digests[0][0] == "made-up"


def test_a_plan_with_one_wrong_byte_is_named(run: tuple[Layout, list[list[str]], Notes]) -> None:
    """Wherever it stands in the packed file: its parts are read by several libraries."""
    layout, _, _ = run
    digest = Store(layout.runs).log.leaves()[-1].plan
    path = plan_path(layout.local, digest)
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        # of the header some bytes tell nothing of the content
        try:
            assert load_plan(layout.local, digest)
        except CorruptData as error:
            assert error.where == str(path)
        else:
            assert place < 10
