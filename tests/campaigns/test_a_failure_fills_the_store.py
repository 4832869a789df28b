"""What is kept of a run that failed is small, whatever it wrote; what is not kept is named with its sha256."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution import tasks
from harness.execution.runs import Outcome
from harness.execution.tasks import Task, perform
from harness.images import BuiltImage
from harness.planning.obstacles import Obstacles
from harness.results.store import Store
from tests.fabricate import plan_of, planned_of

MIB = 1 << 20
IMAGE = BuiltImage(
    engine="docker", name="made-up", image_id="sha256:0", environment_tree="0", code_tree="0", size_bytes=1
)


class _Facts:
    """An engine that is none."""

    name, version = "docker", "20.10"

    def as_json(self) -> dict[str, Any]:
        return {"name": "docker"}


def _outcome(folder: Path, verdict: Verdict, files: dict[str, int]) -> Outcome:
    """A run that ended so and left files of so many bytes."""
    out = folder / "collected"
    out.mkdir(parents=True)
    (folder / "log.txt").write_text("last words\n")
    for name, size in files.items():
        (out / name).write_bytes(bytes(size))
    values: dict[str, Any] = dict.fromkeys(Outcome.__dataclass_fields__)
    values |= {
        "verdict": verdict,
        "reason": "made up",
        "log": folder / "log.txt",
        "out_folder": out,
        "attempts": (),
    }
    values |= {"ignored": (), "warnings": (), "engine": _Facts(), "folder": folder, "started": "", "image_id": ""}
    return Outcome(**values)


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.INVALID, Verdict.INFRASTRUCTURE])
def test_of_a_failure_little_is_kept(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    left = {"lowest.npy": 8, "method.json": 65 << 10, "predictions.npy": 30 * MIB, "validation.npy": MIB - 8}
    outcome = _outcome(tmp_path / "run", verdict, left)
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: outcome)
    planned = planned_of(plan_of(layout).cells[0])
    record = perform(Task(layout, planned, IMAGE), _no_engine())
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
    record = perform(Task(layout, planned, IMAGE), _no_engine())
    assert set(record.files) == {"job.json", "log.txt", "method.json", "predictions.npy"}
    assert "not_kept" not in record.resources
    assert obstacles.all("run") == {} and not obstacles.trace_path("run", planned.key).exists()


def test_a_small_failure_is_kept_whole(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _outcome(tmp_path / "run", Verdict.INVALID, {"method.json": 64 << 10, "predictions.npy": 100})
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: outcome)
    record = perform(Task(layout, planned_of(plan_of(layout).cells[0]), IMAGE), _no_engine())
    assert set(record.files) == {"job.json", "log.txt", "method.json", "predictions.npy"}
    assert "not_kept" not in record.resources


def _no_engine() -> Engine:
    """`execute` is made up, so that none is asked for."""
    return Engine.__new__(Engine)
