"""A cell that could not be started says why until it can be; a finished run is never covered by an obstacle."""

from __future__ import annotations

from pathlib import Path

from harness.obstacles import Known, Obstacles
from harness.plan import Cell, Plan, join
from harness.store import Store
from harness.vocabulary import Verdict
from tests.core.factories import planned_job, put_run


def test_an_obstacle_is_remembered_until_it_is_cleared(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    obstacles = Obstacles(store.folder)
    assert Known.of(store.folder).before(planned_job().job) is None
    obstacles.note("method", "constant", "no wheel")
    assert Known.of(store.folder).before(planned_job().job) == (Verdict.INFRASTRUCTURE, "no wheel")
    obstacles.note("dataset", "synthetic", "in none of its sources")
    assert Known.of(store.folder).before(planned_job().job) == (Verdict.MISSING_DATA, "in none of its sources")
    assert list(store.finished()) == []
    obstacles.clear("dataset", "synthetic")
    obstacles.clear("method", "constant")
    obstacles.clear("method", "constant")
    assert Known.of(store.folder).before(planned_job().job) is None


def test_a_finished_run_is_not_covered_by_an_obstacle(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    done, waiting = planned_job(1), planned_job(2)
    put_run(store, done, tmp_path / "files")
    Obstacles(store.folder).note("method", "constant", "no wheel")
    plan = Plan("two", (Cell(done.job, done), Cell(waiting.job, waiting)))
    assert [cell.verdict for cell in join(plan, store)] == [Verdict.OK, Verdict.INFRASTRUCTURE]
