"""A cell that could not be started says why until it can be; a finished run is never covered by an obstacle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell
from harness.planning.jobs import Job
from harness.planning.obstacles import FOLDER, Kind, ObstacleNotes, Obstacles
from harness.planning.plan import Plan
from harness.results.store import Store, join
from tests.core.factories import planned_job, put_run


def test_an_obstacle_is_remembered_until_it_is_cleared(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    obstacles = Obstacles(store.folder)
    assert ObstacleNotes.of(store.folder).before(planned_job().job) is None
    obstacles.note("method", "constant", "no wheel")
    assert ObstacleNotes.of(store.folder).before(planned_job().job) == (Verdict.INFRASTRUCTURE, "no wheel")
    obstacles.note("dataset", "synthetic", "in none of its sources")
    assert ObstacleNotes.of(store.folder).before(planned_job().job) == (
        Verdict.MISSING_DATA,
        "in none of its sources",
    )
    assert list(store.finished()) == []
    obstacles.clear("dataset", "synthetic")
    obstacles.clear("method", "constant")
    obstacles.clear("method", "constant")
    assert ObstacleNotes.of(store.folder).before(planned_job().job) is None


def test_an_obstacle_that_goes_while_all_are_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is made while a campaign runs."""
    obstacles, read = Obstacles(tmp_path), Path.read_text
    for name in ("fdataset", "synthetic"):
        obstacles.note("dataset", name, "nowhere")

    def read_text(path: Path, encoding: str) -> str:
        obstacles.clear("dataset", "synthetic")
        return read(path, encoding=encoding)

    monkeypatch.setattr(Path, "read_text", read_text)
    assert obstacles.all("dataset") == {"fdataset": "nowhere"}


def test_a_finished_run_is_not_covered_by_an_obstacle(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    done, waiting = planned_job(1), planned_job(2)
    put_run(store, done, tmp_path / "files")
    Obstacles(store.folder).note("method", "constant", "no wheel")
    plan = Plan("two", (Cell(done.job, done), Cell(waiting.job, waiting)))
    assert [cell.verdict for cell in join(plan, store)] == [Verdict.OK, Verdict.INFRASTRUCTURE]


def test_an_obstacle_is_in_the_way_of_what_it_is_about(tmp_path: Path) -> None:
    """A method has an image for each accelerator; a variant may read weights that the others do not."""
    job = planned_job().job
    on_gpu = job.model_copy(update={"accelerator": "cuda"})
    corrected = job.model_copy(update={"variant": "corrected"})
    other = job.model_copy(update={"method": "als_wr"})
    notes: list[tuple[Kind, str, list[Job]]] = [
        ("method", "constant", [job, corrected]),
        ("method", "constant-cuda", [on_gpu]),
        ("variant", "constant-published", [job]),
        ("variant", "constant-corrected", [corrected]),
        ("variant", "constant-cuda-published", [on_gpu]),
        ("dataset", "synthetic", [job, on_gpu, corrected, other]),
        ("dataset", "fdataset", []),
    ]
    for kind, name, stopped in notes:
        obstacles = Obstacles(tmp_path / f"{kind}-{name}")
        obstacles.note(kind, name, "a reason")
        assert obstacles.all(kind) == {name: "a reason"}
        verdict = Verdict.MISSING_DATA if kind == "dataset" else Verdict.INFRASTRUCTURE
        for one in (job, on_gpu, corrected, other):
            expected = (verdict, "a reason") if one in stopped else None
            assert ObstacleNotes.of(obstacles.store).before(one) == expected, (name, one.label)


def test_data_that_nobody_has_are_said_before_an_image_that_can_not_be_built(tmp_path: Path) -> None:
    obstacles = Obstacles(tmp_path)
    for kind, name in (("variant", "constant-published"), ("method", "constant"), ("dataset", "synthetic")):
        obstacles.note(kind, name, f"no {kind}")  # type: ignore[arg-type]
        assert ObstacleNotes.of(tmp_path).before(planned_job().job) == (
            Verdict.MISSING_DATA if kind == "dataset" else Verdict.INFRASTRUCTURE,
            f"no {kind}",
        )


def test_a_fault_of_ours_leaves_its_trace_beside_the_runs(tmp_path: Path) -> None:
    """The reason says where, from the folder of results; what clears the obstacle removes both."""
    obstacles = Obstacles(tmp_path / "local" / "runs")
    obstacles.note("run", "5" * 64, "a fault of the harness itself", trace="line 1\nline 2\n")
    place = f"runs/.obstacles/run/{'5' * 64}.trace"
    assert obstacles.all("run") == {"5" * 64: f"a fault of the harness itself (trace: {place})"}
    assert (tmp_path / "local" / place).read_text() == "line 1\nline 2\n"
    obstacles.clear("run", "5" * 64)
    assert obstacles.all("run") == {} and not (tmp_path / "local" / place).exists()


def test_all_notes_of_a_store_are_read_each_by_its_kind(tmp_path: Path) -> None:
    kinds: tuple[Kind, ...] = ("dataset", "method", "variant", "run")
    for kind in kinds:
        Obstacles(tmp_path).note(kind, f"a {kind}", f"no {kind}")
    assert ObstacleNotes.of(tmp_path) == ObstacleNotes(*({f"a {kind}": f"no {kind}"} for kind in kinds))


def test_nobody_waits_for_a_pipe_in_the_place_of_a_note(tmp_path: Path) -> None:
    notes = Obstacles(tmp_path)
    notes.note("dataset", "gottlieb", "nowhere")
    os.mkfifo(tmp_path / FOLDER / "dataset" / "hdvd.txt")
    assert notes.all("dataset") == {"gottlieb": "nowhere"}
