"""What is kept of a run that failed is small, whatever it wrote; what is not kept is named with its sha256."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution import tasks
from harness.execution.runs import Outcome
from harness.execution.tasks import Task, perform
from harness.planning.obstacles import Obstacles
from harness.results.store import Store
from tests.fabricate import plan_of, planned_of
from tests.runs.made_up import ENGINE, IMAGE, outcome_of

MIB = 1 << 20


def _outcome(folder: Path, verdict: Verdict, files: dict[str, int]) -> Outcome:
    """A run that ended so and left files of so many bytes."""
    return outcome_of(folder, verdict, {name: bytes(size) for name, size in files.items()})


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.INVALID, Verdict.INFRASTRUCTURE])
def test_of_a_failure_little_is_kept(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    left = {"lowest.npy": 8, "method.json": 65 << 10, "predictions.npy": 30 * MIB, "validation.npy": MIB - 8}
    outcome = _outcome(tmp_path / "run", verdict, left)
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: outcome)
    planned = planned_of(plan_of(layout).cells[0])
    record = perform(Task(layout, planned, IMAGE), ENGINE)
    assert set(record.files) == {"job.json", "log.txt", "lowest.npy", "validation.npy"}
    zeros = hashlib.sha256(bytes(30 * MIB)).hexdigest()
    assert record.resources["not_kept"].keys() == {"method.json", "predictions.npy"}
    assert record.resources["not_kept"]["predictions.npy"] == {"bytes": 30 * MIB, "sha256": zeros}
    assert sum(path.stat().st_size for path in Store(layout.runs).path(record.key).iterdir()) < 1.1 * MIB


def test_of_a_result_all_is_kept(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _outcome(tmp_path / "run", Verdict.OK, {"method.json": 65 << 10, "predictions.npy": 2 * MIB})
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: outcome)
    planned, obstacles = planned_of(plan_of(layout).cells[0]), Obstacles(layout.runs)
    obstacles.note("run", planned.key, "the harness failed on it before", trace="line 1")
    record = perform(Task(layout, planned, IMAGE), ENGINE)
    assert set(record.files) == {"job.json", "log.txt", "method.json", "predictions.npy"}
    assert "not_kept" not in record.resources
    assert obstacles.all("run") == {} and not obstacles.trace_path("run", planned.key).exists()


def test_a_small_failure_is_kept_whole(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _outcome(tmp_path / "run", Verdict.INVALID, {"method.json": 64 << 10, "predictions.npy": 100})
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: outcome)
    record = perform(Task(layout, planned_of(plan_of(layout).cells[0]), IMAGE), ENGINE)
    assert set(record.files) == {"job.json", "log.txt", "method.json", "predictions.npy"}
    assert "not_kept" not in record.resources


@pytest.mark.parametrize(
    ("left", "kept"),
    [
        # the report first; then as much of the rest as a mebibyte holds, in the order of names
        ({"a.npy": (1 << 20) - 100, "method.json": 100, "b.npy": 1}, {"a.npy", "method.json"}),
        ({"a.npy": 1 << 20, "b.npy": 1}, {"a.npy"}),
        ({"a.npy": (1 << 20) + 1, "b.npy": 1 << 20}, {"b.npy"}),
        ({"method.json": 64 << 10, "a.npy": (1 << 20) - (64 << 10)}, {"method.json", "a.npy"}),
        ({"method.json": (64 << 10) + 1, "a.npy": 1 << 20}, {"a.npy"}),
    ],
)
def test_of_a_failure_a_mebibyte_is_kept_its_report_before_all_else(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: dict[str, int], kept: set[str]
) -> None:
    made = _outcome(tmp_path / "run", Verdict.ERROR, left)
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: made)
    record = perform(Task(layout, planned_of(plan_of(layout).cells[0]), IMAGE), ENGINE)
    assert set(record.files) - {"job.json", "log.txt"} == kept
    assert set(record.resources.get("not_kept", {})) == set(left) - kept
