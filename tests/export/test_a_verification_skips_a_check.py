"""What can't be checked is said to be so, with the reason, and whatever can be checked is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.audit.steps import Checked, Step
from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.export import Extent, export
from harness.export import verify as module
from harness.export.contents import SUITE, Contents, read_suite
from harness.export.scores import labels_of
from harness.export.things import images, method
from harness.export.verify import Verification, verify
from harness.methods.card import load_method
from harness.planning.plan import Plan
from harness.results.records import RECORD_FILE
from harness.results.store import Store
from tests.export.crates import rewrite, run_folder, seal


def _of(verification: Verification, number: int, *names: str) -> list[Step]:
    return [step for step in verification.runs[number].steps if step.name in names]


def _broken(verification: Verification) -> list[str]:
    steps = [step for audit in verification.every for step in audit.steps]
    return [f"{step.name}: {step.what}" for step in steps if step.checked is Checked.FAILED]


def _to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda path: path.unlink(), "can't be read: there is no module harness.benchmarks."),
        (lambda path: path.write_text("def"), "can't be read: a module is no Python"),
        (lambda path: path.write_text(path.read_text() + "x = 1\n"), ""),
        (lambda path: _to_itself(path), "can't be read: "),
    ],
)
def test_a_scorer_that_can_not_be_read_is_another(
    crate: Path, empty: Layout, damage: Callable[[Path], None], told: str
) -> None:
    path = crate / "repository/harness/benchmarks/measures.py"
    damage(path)
    found = verify(empty, crate)
    for number in (0, 1, 2):
        (step,) = _of(found, number, "scorer")
        record = json.loads((run_folder(crate, found.runs[number].key) / RECORD_FILE).read_text())
        assert step.checked is Checked.FAILED and step.what == "its modules in the crate"
        assert step.found.startswith(told) and (told or len(step.found) == 64)
        assert step.expected == record["made_by"]["scorer"] != step.found
    assert found.crate.steps[-1].what == "this repository has another scorer of repurposing"


def test_a_repository_with_another_scorer_does_not_judge(
    whole: Path, empty: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "scorer_digest", lambda benchmark: f"another of {benchmark}")
    found = verify(empty, whole)
    assert not found.failed
    for number in (0, 1, 2):
        assert [(step.checked, step.what) for step in _of(found, number, "scores", "scorer")] == [
            (Checked.OK, "the run that they are of"),
            (Checked.OK, "the files that they are of"),
            (Checked.OK, "its modules in the crate"),
            (Checked.NOT_CHECKED, "this repository has another scorer; check out that of the crate"),
        ]
    assert [(step.name, step.what) for step in found.crate.steps[-1:]] == [
        ("description", "this repository has another scorer of repurposing")
    ]


def test_scores_without_a_truth_are_not_called_checked(
    whole: Path, empty: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "without_truth", lambda job: f"nobody knows of {job.method}")
    found = verify(empty, whole)
    assert not found.failed
    step = _of(found, 2, "scores")[-1]
    assert (step.checked, step.what) == (Checked.NOT_CHECKED, "nobody knows of als_wr")


@pytest.mark.parametrize("extent", [Extent.WITHOUT_PREDICTIONS, Extent.REFERENCE])
def test_what_a_crate_does_not_hold_is_not_checked(
    crate: Path, empty: Layout, keys: list[str], extent: Extent
) -> None:
    rewrite(crate / SUITE, lambda suite: suite.update(extent=str(extent)))
    for key in keys:
        (run_folder(crate, key) / "predictions.npy").unlink(missing_ok=True)
        (run_folder(crate, key) / "log.txt").unlink()
    found = verify(empty, crate)
    missing = [line for line in _broken(found) if "missing" in line and line.endswith("the file is missing")]
    assert missing == ([] if extent is Extent.REFERENCE else ["log.txt: the file is missing"] * 4)
    for number, audit in enumerate(found.runs):
        step = [step for step in audit.steps if step.name == "files"]
        absent = number < 3 or extent is Extent.REFERENCE
        assert [(one.checked, one.what) for one in step] == (
            [(Checked.NOT_CHECKED, f"the crate holds {extent}")] if absent else []
        )
        names = {one.name for one in audit.steps}
        # what a reference crate holds of a run has no job to be read
        assert ("seed" in names) == (extent is not Extent.REFERENCE)
    assert _of(found, 0, "scores")[-1].what == "the crate has no predictions to compute them from"


def test_a_crate_without_a_run_proves_nothing(crate: Path, empty: Layout) -> None:
    shutil.rmtree(crate / "runs")
    shutil.rmtree(crate / "scores")

    def forget(suite: Any) -> None:
        for cell in suite["cells"]:
            cell["verdict"] = "pending"

    rewrite(crate / SUITE, forget)
    seal(crate)
    found = verify(empty, crate)
    assert found.failed and found.runs == () and found.without_run == 6
    steps = [(step.name, str(step.checked), step.what, step.where) for step in found.crate.steps]
    assert steps[1:] == [
        ("suite", "FAILED", "no planned cell has a run", SUITE),
        ("suite", "ok", "6 planned cells", ""),
        ("plan", "not checked", "'made-up' is no suite of this repository: who packed it chose its runs", ""),
        ("description", "not checked", "not all records are here and whole", ""),
    ]


def test_every_run_that_the_suite_does_not_plan_is_named(crate: Path, empty: Layout, keys: list[str]) -> None:
    strangers = ["e" * 64, "f" * 64]
    for key in strangers:
        shutil.copytree(run_folder(crate, keys[0]), run_folder(crate, key))
    seal(crate)
    told = [step.what for step in verify(empty, crate).crate.steps if step.checked is Checked.FAILED]
    assert told == [f"a run that the suite does not plan: {key}" for key in strangers]


def test_a_cell_is_of_the_run_that_lies_under_its_key(crate: Path, empty: Layout, keys: list[str]) -> None:
    def tell(suite: Any) -> None:
        suite["cells"][0]["job"]["parameters"] = {"score": 2}
        suite["cells"][0]["verdict"] = "error"

    rewrite(crate / SUITE, tell)
    seal(crate)
    (step,) = _of(verify(empty, crate), 0, "verdict")
    assert (step.expected, step.found, step.where) == (
        "ok: the container finished and its predictions are valid",
        "error: the container finished and its predictions are valid",
        SUITE,
    )
    rewrite(crate / SUITE, lambda suite: suite["cells"][0]["planned"]["job"]["split"].update(strategy="weakly"))
    found = verify(empty, crate)
    if found.runs and found.runs[0].key == keys[0]:
        (step,) = _of(found, 0, "suite")
        assert (step.what, step.where) == ("the suite plans another job than was run", SUITE)
    assert found.failed


def test_a_run_that_ended_ok_left_all_that_it_must(crate: Path, empty: Layout, keys: list[str]) -> None:
    folder = run_folder(crate, keys[0])
    (folder / "method.json").unlink()
    rewrite(folder / RECORD_FILE, lambda record: record["files"].pop("method.json"))
    seal(crate)
    (step,) = _of(verify(empty, crate), 0, "files")
    assert (step.what, step.where) == ("a run that ended ok has no method.json", str(folder))


def test_a_changed_file_is_told_with_both_sums(crate: Path, empty: Layout, keys: list[str]) -> None:
    folder = run_folder(crate, keys[3])
    record = json.loads((folder / RECORD_FILE).read_text())
    (folder / "log.txt").write_text("x")
    (step,) = _of(verify(empty, crate), 3, "log.txt")
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert (step.checked, step.expected, step.found, step.where) == (
        Checked.FAILED,
        record["files"]["log.txt"]["sha256"],
        digest,
        str(folder / "log.txt"),
    )
    (folder / "log.txt").unlink()
    (step,) = _of(verify(empty, crate), 3, "log.txt")
    assert (step.what, step.where) == ("the file is missing", str(folder / "log.txt"))


class Told(Silent):
    def __init__(self) -> None:
        self.all: list[tuple[str, int] | str] = []

    def begin(self, title: str, total: int) -> None:
        self.all.append((title, total))

    def step(self, text: str) -> None:
        self.all.append(text)


def test_progress_is_told_run_by_run(whole: Path, empty: Layout) -> None:
    told = Told()
    found = verify(empty, whole, progress=told)
    assert told.all == [("verify", 4), *(f"ok: {audit.label}" for audit in found.runs)]


def test_packing_is_told_run_by_run(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    told = Told()
    export(evidence, made_up, tmp_path / "crate", progress=told)
    assert told.all == [("pack", 4), *(cell.job.label for cell in made_up.cells[:4])]


def test_an_original_that_ran_is_not_in_the_crate(
    crate: Path, empty: Layout, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Store(crate / "runs").record(keys[0])
    job = record.planned.job.model_copy(update={"upstream": "a" * 64})
    other = record.model_copy(update={"planned": record.planned.model_copy(update={"job": job})})
    verifier = module._Verifier(empty, crate, (), Silent())
    usual, steps = verifier._check_code(record), verifier._check_code(other)
    assert steps[:-1] == usual
    assert (steps[-1].checked, steps[-1].name) == (Checked.NOT_CHECKED, "code")
    assert steps[-1].what == "a checkout of the authors' code ran, which is not in the crate"


def test_an_image_of_which_little_is_known_is_described_all_the_same(whole: Path, keys: list[str]) -> None:
    record = Store(whole / "runs").record(keys[0]).model_copy(update={"image": {}})
    (entity,) = images([record])
    assert (entity["name"], entity["tag"], entity["sha256"]) == ("", "", "")
    assert entity["identifier"] == record.planned.image_tree
    contents = Contents(whole, read_suite(whole), {record.key: record})
    values: Any = {}
    (tool,) = method(contents, load_method(contents.layout, "constant"), values)
    assert tool["version"] == "" and labels_of(contents.layout, record.planned).is_dir()
