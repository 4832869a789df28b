"""What a person gets to hold is what a run gets; what comes out is judged like a run, and never stored."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

from harness import api
from harness.api.repository import Repository
from harness.base.errors import CorruptData, HarnessError, UsageError
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.cli import group
from harness.engine import Engine
from harness.execution import kit
from harness.execution.inputs import job_folder, make_inputs
from harness.execution.kit import Kit, judge_by_hand, write_kit
from harness.images import BuiltImage
from harness.methods.card import load_method
from harness.planning.jobs import PlannedJob
from harness.planning.plan import pinned
from harness.results.truth import truth_of
from tests.runs.test_container import FACTS

IMAGE = BuiltImage(
    engine="docker", name="permafrost/x:1", image_id="sha256:1", environment_tree="e", code_tree="c", size_bytes=1
)
ENGINE = cast(Engine, SimpleNamespace(facts=FACTS))


@pytest.fixture
def planned(layout: Layout) -> PlannedJob:
    return pinned(asked(layout).cells[0])


@pytest.fixture
def written(layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setattr(kit, "ensure_image", lambda *_: IMAGE)
    return write_kit(layout, ENGINE, planned, tmp_path / "kit")


def asked(layout: Layout, method: str = "constant") -> Any:
    return api.plan(methods=method, datasets="synthetic", seeds=1, repository=Repository(layout))


def answer(written: Kit) -> Path:
    """An answer to a job with five inner models."""
    folds, out = np.load(written.folder / "in" / "folds.npy"), written.folder / "out"
    tested = int((folds == -1).sum())
    np.save(out / "predictions.npy", np.arange(5 * tested, dtype=float).reshape(5, tested) + 1)
    np.save(out / "validation.npy", np.ones(folds.size - tested))
    np.save(out / "lowest.npy", np.ones(5))
    (out / "method.json").write_text('{"protocol": 1}')
    return out


def test_in_is_that_of_a_run_in_the_same_order(
    layout: Layout, planned: PlannedJob, written: Kit, tmp_path: Path
) -> None:
    card = load_method(layout, "constant")
    again = tmp_path / "again"
    again.mkdir()
    job_folder(make_inputs(layout, planned, card.inputs, order=written.note.order), again, planned, card)
    files = sorted(path.name for path in again.iterdir())
    assert files == sorted(path.name for path in (written.folder / "in").iterdir())
    for name in files:
        assert (written.folder / "in" / name).read_bytes() == (again / name).read_bytes()


def test_no_test_label_is_in_it(layout: Layout, planned: PlannedJob, written: Kit) -> None:
    truth = truth_of(layout, planned.job)
    assert isinstance(truth.dataset, RepurposingDataset)
    known, folds = (np.load(written.folder / "in" / f"{name}.npy") for name in ("associations", "folds"))
    assert (known[folds == -1] == 0).all() and known.sum() < truth.dataset.associations.sum()
    assert sorted(path.name for path in (written.folder / "in").iterdir()) == [
        "associations.npy",
        "folds.npy",
        "job.json",
    ]


def test_the_container_sees_nothing_else_of_the_folder(written: Kit) -> None:
    mounted = [word for word in written.command if word.startswith("--mount=")]
    places = {word.split("source=")[1].split(",")[0].removeprefix(f"{written.folder}/") for word in mounted}
    assert places == {"in", "out", *(f"shown/{path.name}" for path in (written.folder / "shown").iterdir())}
    assert list((written.folder / "out").iterdir()) == []


def test_no_harness_takes_the_container_for_an_orphan(written: Kit) -> None:
    labels = [word for word in written.command if word.startswith("--label=")]
    assert labels == [f"--label=permafrost.key={written.note.planned.key}"]


def test_an_answer_is_judged_in_the_published_order_and_stays_as_it_is(layout: Layout, written: Kit) -> None:
    out = answer(written)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    judged = judge_by_hand(layout, written.folder)
    assert judged.fault == "" and set(judged.files) == {"predictions.npy", "validation.npy", "lowest.npy"}
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    first = sha256_of(out / "predictions.npy")
    assert judged.files["predictions.npy"] != first, "put back into the published order"
    assert judged.files["lowest.npy"] == sha256_of(out / "lowest.npy")
    assert not (written.folder / "collected").exists()
    assert not layout.runs.exists(), "nothing is stored"


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda out: (out / "predictions.npy").unlink(), "predictions.npy"),
        (lambda out: np.save(out / "predictions.npy", np.ones((2, 2))), "shape"),
        (lambda out: (out / "method.json").unlink(), "method.json"),
        (lambda out: shutil.copy("/etc/hostname", out.parent / "in" / "more"), "/in was changed"),
        (lambda out: (out.parent / "in" / "associations.npy").write_bytes(b""), "/in was changed"),
    ],
)
def test_what_is_no_answer_is_said_to_be_none(layout: Layout, written: Kit, damage: Any, fault: str) -> None:
    damage(answer(written))
    assert fault in judge_by_hand(layout, written.folder).fault


def test_a_folder_that_is_there_is_left_alone(layout: Layout, planned: PlannedJob, written: Kit) -> None:
    before = sorted(written.folder.rglob("*"))
    with pytest.raises(UsageError, match="something of that name"):
        write_kit(layout, ENGINE, planned, written.folder)
    assert sorted(written.folder.rglob("*")) == before


def test_a_failure_leaves_nothing(
    layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kit, "ensure_image", lambda *_: IMAGE)
    monkeypatch.setattr(kit, "write_shown_files", full)
    with pytest.raises(OSError, match="No space"):
        write_kit(layout, ENGINE, planned, tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_another_folder_is_not_read(layout: Layout, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder that"):
        judge_by_hand(layout, tmp_path)
    (tmp_path / "kit.json").write_text('{"planned": 1}')
    with pytest.raises(CorruptData, match="can't be read"):
        judge_by_hand(layout, tmp_path)


def test_one_job_is_asked_for(layout: Layout, tmp_path: Path) -> None:
    here = Repository(layout)
    several = api.plan(methods="constant", datasets="synthetic", seeds=[1, 2], repository=here)
    with pytest.raises(UsageError, match="2 cells"):
        api.write_job(several, tmp_path / "kit", repository=here)
    impossible = api.plan(methods="bnnr", datasets="gottlieb", seeds=1, make_splits=False, repository=here)
    with pytest.raises(HarnessError, match="missing-data"):
        api.write_job(impossible, tmp_path / "kit", repository=here)
    assert not (tmp_path / "kit").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x"], "no job was named"),
        (["0123", "x", "--method", "constant"], "a key says which job it is"),
        (["1", "2", "3"], "3 names were given"),
    ],
)
def test_the_command_asks_for_one_job(arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        CliRunner().invoke(group, ["job", "write", *arguments], standalone_mode=False, catch_exceptions=False)


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_the_pasted_line_gives_the_bits_of_the_run(layout: Layout, tmp_path: Path) -> None:
    here = Repository(layout)
    plan = asked(layout)
    assert api.run(plan, progress=None, repository=here).is_good
    key = plan.cells[0].key
    assert key is not None
    result = CliRunner().invoke(
        group,
        ["job", "write", key[:12], str(tmp_path / "kit")],
        standalone_mode=False,
        catch_exceptions=False,
        env={"PERMAFROST_RESULTS": str(layout.local)},
    )
    done = subprocess.run(["bash", "-c", result.stdout], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stored = sorted(layout.runs.rglob("*"))
    checked = api.check_job(tmp_path / "kit", repository=here)
    assert checked.equal is True and checked.is_good and checked.key == key
    assert sorted(layout.runs.rglob("*")) == stored
    scores = np.load(tmp_path / "kit" / "out" / "predictions.npy")
    scores[0, 0] += 1
    np.save(tmp_path / "kit" / "out" / "predictions.npy", scores)
    checked = api.check_job(tmp_path / "kit", repository=here)
    assert checked.equal is False and not checked.is_good
