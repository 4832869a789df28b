"""A long run is told what it needs before it begins, and refused when the disk can't hold it."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from harness import needs
from harness.disk import reserve_of
from harness.errors import EngineError
from harness.jobs import PlannedJob
from harness.layout import Layout
from harness.needs import check_disk, needs_of
from harness.plan import Cell, join, make_plan
from harness.store import Store
from harness.suites import jobs_of, load_suite
from harness.vocabulary import Verdict
from tests.core.factories import record_of


def _cells(layout: Layout) -> tuple[Cell, ...]:
    plan = make_plan(layout, "smoke", jobs_of(layout, load_suite("smoke")))
    return join(plan, Store(layout.runs), records=True)


def test_what_is_left_is_counted(layout: Layout) -> None:
    told = needs_of(layout, "smoke", _cells(layout))
    assert told.planned == told.left == len(_cells(layout))
    # five models' scores of 18,000 test pairs and one of 72,000 training pairs, eight bytes each
    large = sum(1 for cell in _cells(layout) if cell.job.benchmark == "repurposing")
    assert large and told.result_bytes >= large * 8 * (5 * 18_000 + 72_000)
    assert told.image_bytes > 0
    assert "not measured here yet" in told.text()


def test_finished_runs_are_not_left_and_tell_the_time(layout: Layout, tmp_path: Path) -> None:
    store = Store(layout.runs)
    first = next(cell.planned for cell in _cells(layout) if cell.job.method == "constant")
    assert isinstance(first, PlannedJob)
    log = tmp_path / "log.txt"
    log.write_text("")
    store.put(record_of(first).model_copy(update={"resources": {"wall_s": 36.0}}), {"log.txt": log})
    told = needs_of(layout, "smoke", _cells(layout))
    assert told.left == told.planned - 1
    assert told.measured == 1
    assert told.cpu_hours == pytest.approx(0.01)


def test_cells_that_can_not_be_run_are_told_to_programs(layout: Layout) -> None:
    first, *others = _cells(layout)
    without = replace(first, planned=None, verdict=Verdict.MISSING_DATA)
    told = needs_of(layout, "smoke", [without, *others])
    assert json.loads(json.dumps(asdict(told)))["cannot_run"] == {"missing-data": 1}
    assert "1 missing-data" in told.text()


def test_a_disk_that_is_too_small_is_said_before_the_run(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    told = needs_of(layout, "smoke", _cells(layout))
    monkeypatch.setattr(needs, "needs_of", lambda *_: replace(told, free_bytes=told.disk_bytes - 1))
    with pytest.raises(EngineError, match="of disk") as caught:
        check_disk(layout, "smoke", _cells(layout))
    assert "--remove-images" in caught.value.todo


def test_a_disk_that_would_be_full_to_its_reserve_is_said_too(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = needs_of(layout, "smoke", _cells(layout))
    reserve = reserve_of(shutil.disk_usage(layout.local).total)
    for free, fits in ((told.disk_bytes + reserve - 1, False), (told.disk_bytes + reserve, True)):
        monkeypatch.setattr(needs, "needs_of", lambda *_, free=free: replace(told, free_bytes=free))
        with nullcontext() if fits else pytest.raises(EngineError, match="must stay free"):
            check_disk(layout, "smoke", _cells(layout))
