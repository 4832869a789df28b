"""An export is made of what was asked for, lies where it was wanted, and a refusal says where and what to do."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import AuditError, UsageError
from harness.base.layout import Layout
from harness.data import load_dataset as make_dataset
from harness.data.manifest import manifest_path
from harness.export import Exported, Extent, Profile, export, pack
from harness.planning.plan import Plan
from harness.results.reference import load_reference
from harness.results.scoring import Scores, scores_path
from harness.results.scoring import compute_scores as compute
from harness.splits import load_split as make_split
from tests.export.crates import reference_plan, rewrite
from tests.fabricate import planned_of


@pytest.fixture
def short(evidence: Layout, made_up: Plan) -> Plan:
    """A run that ended ok, a failed one, and one that waits."""
    return replace(made_up, cells=(made_up.cells[0], made_up.cells[3], made_up.cells[5]))


def test_files_are_looked_for_where_a_person_said(
    evidence: Layout, short: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirrors, calls = (tmp_path / "a mirror",), list[Any]()
    planned = planned_of(short.cells[0])

    def compute_scores(layout: Layout, store: Any, of: Any, own: Sequence[Path]) -> Scores:
        calls.append(("scores", layout, store.folder, of, own))
        return compute(layout, store, of, own)

    def load_split(layout: Layout, name: str, spec: Any, own: Sequence[Path] = ()) -> Any:
        calls.append(("split", layout, name, spec, own))
        return make_split(layout, name, spec, own)

    def load_dataset(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> Any:
        calls.append(("dataset", layout, name, mirrors))
        return make_dataset(layout, name, mirrors=mirrors)

    for name, value in (
        ("compute_scores", compute_scores),
        ("load_split", load_split),
        ("load_dataset", load_dataset),
    ):
        monkeypatch.setattr(pack, name, value)
    export(evidence, short, tmp_path / "crate", mirrors=mirrors)
    assert calls == [
        ("scores", evidence, evidence.runs, planned, mirrors),
        ("split", evidence, "synthetic", planned.job.split, mirrors),
        ("dataset", evidence, "synthetic", mirrors),
    ]


def test_what_may_not_be_handed_on_stays(evidence: Layout, short: Plan, tmp_path: Path) -> None:
    path = manifest_path(evidence, "synthetic")
    path.write_text(path.read_text().replace("generated; no rights needed", "none stated"))
    export(evidence, short, tmp_path / "crate")
    planned = planned_of(short.cells[0])
    files = {one.relative_to(tmp_path / "crate/data").as_posix() for one in (tmp_path / "crate/data").rglob("*.*")}
    # the split of the failed run is not there either
    assert files == {f"splits/{planned.split_digest}.npy"}


def test_only_a_packed_crate_takes_the_place_of_another(evidence: Layout, short: Plan, tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "crate.zip"
    export(evidence, short, deep)
    content = deep.read_bytes()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "file").write_text("")
    links = tmp_path / "link", tmp_path / "link.zip"
    for link in links:
        link.symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.zip")
    for path, overwrite in (
        (deep, False),
        (links[0], True),
        (links[1], False),
        (tmp_path / "pipe.zip", True),
        (tmp_path / "folder", True),
        (tmp_path / "folder.zip", True),
        (tmp_path / "file", True),
    ):
        with pytest.raises(UsageError) as refused:
            export(evidence, short, path, overwrite=overwrite)
        assert (refused.value.what, refused.value.where) == ("the export exists already", str(path))
        assert refused.value.todo == "remove it, or choose another name"
    export(evidence, replace(short, cells=short.cells[:1]), deep, overwrite=True)
    assert deep.read_bytes() != content and [one.name for one in deep.parent.iterdir()] == ["crate.zip"]
    export(evidence, short, deep, overwrite=True)
    export(evidence, short, links[1], overwrite=True)
    assert deep.read_bytes() == content == links[1].read_bytes() and not links[1].is_symlink()
    capitals = tmp_path / "CRATE.ZIP"
    export(evidence, short, capitals)
    assert capitals.read_bytes() == content


def test_where_nothing_was_run_the_commands_are_named(evidence: Layout, short: Plan, tmp_path: Path) -> None:
    waiting = replace(short, cells=short.cells[2:])
    with pytest.raises(UsageError) as refused:
        export(evidence, waiting, tmp_path / "crate")
    assert refused.value.what == "nothing was run of 'made-up': there is nothing to export"
    assert refused.value.where == str(evidence.runs)
    assert (
        refused.value.todo == "run it: harness run --suite made-up, or export the committed results: --reference"
    )
    # nobody who asks for committed results is told to ask for them
    with pytest.raises(UsageError) as refused:
        export(evidence, waiting, tmp_path / "crate", extent=Extent.REFERENCE)
    assert refused.value.what == "no result of 'made-up' is committed: there is nothing to export"
    assert refused.value.where == str(evidence.reference)
    assert (
        refused.value.todo
        == "see what is: harness reference list; what was run here is exported without --reference"
    )
    # what was ever run is no suite that can be run
    with pytest.raises(UsageError) as refused:
        export(
            evidence,
            replace(waiting, name="stored", cells=()),
            tmp_path / "crate",
            extent=Extent.WITHOUT_PREDICTIONS,
        )
    assert refused.value.what == "nothing was run of 'stored': there is nothing to export"
    assert refused.value.todo == "run it: harness run --suite smoke, or export the committed results: --reference"


def test_scores_that_differ_say_which_run_and_file(evidence: Layout, short: Plan, tmp_path: Path) -> None:
    key, label = planned_of(short.cells[0]).key, short.cells[0].job.label
    path = scores_path(evidence, key)
    rewrite(path, lambda scores: scores["metrics"].update({"AUC/as-published": 0.25}))
    with pytest.raises(AuditError) as refused:
        export(evidence, short, tmp_path / "crate")
    told = "the kept scores are not what the predictions give: metric AUC/as-published is "
    assert refused.value.what.startswith(told) and refused.value.what.endswith(", kept is 0.25")
    assert refused.value.where == f"{label}: {path}"
    assert refused.value.todo == f"see `harness audit {key[:12]}`; remove that file and run `harness score`"
    # without kept scores they are computed for the crate
    path.unlink()
    export(evidence, short, tmp_path / "crate")
    assert json.loads((tmp_path / "crate" / "scores" / key[:2] / f"{key}.json").read_text())["key"] == key


def test_reference_results_are_packed_cell_by_cell(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_up: Plan
) -> None:
    plan = reference_plan(layout)
    entries = load_reference(layout)
    cells = (*plan.cells, made_up.cells[0], replace(made_up.cells[0], planned=None))
    mixed = replace(plan, cells=cells)
    told: list[Any] = []
    progress: Any = SimpleNamespace(
        begin=lambda *own: told.append(own), step=lambda text: told.append(text), note=lambda text: None
    )
    exported = export(layout, mixed, tmp_path / "crate", extent=Extent.REFERENCE, progress=progress)
    there = [cell for cell in cells if cell.key in entries]
    assert exported == Exported(len(there), {}) and told == [("pack", len(there)), *(c.job.label for c in there)]
    suite = json.loads((tmp_path / "crate" / "suite.json").read_text())
    assert [(cell["verdict"], cell["reason"]) for cell in suite["cells"]] == [
        (str(entries[cell.key].record.verdict), entries[cell.key].record.reason)
        if cell.key and cell.key in entries
        else ("pending", cell.reason)
        for cell in cells
    ]
    for cell in there:
        assert cell.key
        entry, path = entries[cell.key], tmp_path / "crate/scores" / cell.key[:2] / f"{cell.key}.json"
        assert entry.fresh_scores and json.loads(path.read_text()) == entry.fresh_scores.to_json()
    assert not (tmp_path / "crate" / "data").exists() and suite["profile"] == "provenance"
    monkeypatch.setattr(type(next(iter(entries.values()))), "fresh_scores", None)
    with pytest.raises(AuditError, match="of another scorer than the present one") as refused:
        export(layout, plan, tmp_path / "stale", extent=Extent.REFERENCE, profile=Profile.PROCESS)
    assert refused.value.where == entries[there[0].key or ""].where
    assert refused.value.todo == (
        "check out the commit whose scorer made them, or have the reference results scored anew"
    )


def test_a_packed_crate_is_made_beside_its_place(
    evidence: Layout, short: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not among temporary files, where there may be no room for it."""
    drafts: list[tuple[Path, Path, object]] = []
    monkeypatch.setattr(
        pack, "write_zip", lambda folder, output, progress: drafts.append((folder, output, progress))
    )
    said: list[Any] = []
    progress: Any = SimpleNamespace(begin=lambda *own: said.append(own), step=said.append)
    export(evidence, short, tmp_path / "crate.zip", progress=progress)
    ((folder, output, told),) = drafts
    assert folder.parent == tmp_path and folder.name.startswith(".crate.zip.") and not folder.exists()
    assert (output, told) == (tmp_path / "crate.zip", progress)
    # what waits is not packed
    assert said == [("pack", 2), *(cell.job.label for cell in short.cells[:2])]
