"""Whatever one run makes the harness stumble over is that run's; the others go on. No container is needed here."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from harness.base.errors import EngineError, MissingData, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.engine import Engine
from harness.execution import campaign, turns
from harness.execution.campaign import left_to_run
from harness.execution.gpus import Gpu
from harness.execution.tasks import Task, limits_of
from harness.images import BuiltImage
from harness.methods.card import load_method
from harness.planning.budget import Share
from harness.planning.cells import Cell
from harness.planning.jobs import PlannedJob, make_job, on_accelerator
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan, make_plan
from harness.results.records import Record
from harness.results.store import Store, join
from harness.splits.spec import parse_split
from tests.core.factories import planned_job, put_run, record_of
from tests.fabricate import run_plan

Act = Callable[[PlannedJob], Verdict]
IMAGE = BuiltImage(
    engine="docker", name="made-up", image_id="sha256:0", environment_tree="0", code_tree="0", size_bytes=1
)


class Heard:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, title: str, total: int) -> None:
        """Not kept."""

    def step(self, text: str) -> None:
        """Kept."""
        self.lines.append(text)

    note = step


def made_up_plan(*methods: str, runs: int = 1) -> Plan:
    jobs = [planned_job(seed, method) for method in methods for seed in range(runs)]
    return Plan("made-up", tuple(Cell(planned.job, planned) for planned in jobs))


def _pretend(patch: pytest.MonkeyPatch, act: Act) -> None:
    """Runs without an engine: an act says how each ends, or raises."""

    def perform(task: Task, engine: Engine, stop: threading.Event) -> Record:
        verdict = act(task.planned)
        record = record_of(task.planned, verdict).model_copy(update={"resources": {"wall_s": 1.0}})
        stored = Store(task.layout.runs).put(record, {}, again=task.again)
        Obstacles(task.layout.runs).clear("run", task.planned.key)
        return stored

    patch.setattr(turns, "perform", perform)
    patch.setattr(campaign, "take_image", lambda *_, **__: IMAGE)
    patch.setattr(campaign, "remove_orphans", lambda _: [])


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Callable[[Act], None]:
    """For one test."""
    return partial(_pretend, monkeypatch)


def _run(layout: Layout, plan: Plan, heard: Heard | None = None, **more: object) -> list[str]:
    heard = heard or Heard()
    run_plan(layout, plan, cast(Engine, None), progress=heard, choices=campaign.Choices(workers=1), **more)
    return heard.lines


def _verdicts(layout: Layout, plan: Plan) -> list[Verdict]:
    return [cell.verdict for cell in join(plan, Store(layout.runs))]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("Exceeds the limit (4300 digits)\nfor integer string conversion"),
        PermissionError(13, "Permission denied", "/out"),
        OSError(28, "No space left on device"),
        RecursionError(),
        MemoryError(),
        KeyError("\x1b[2J"),
        EngineError("the engine ran another image", where="there"),
        UsageError("the upstream checkout is not the one that was planned"),
    ],
)
def test_an_exception_is_the_cells_own_with_its_trace(
    layout: Layout, pretend: Callable[[Act], None], error: Exception
) -> None:
    plan = made_up_plan("constant", runs=3)
    bad = plan.cells[1].planned
    assert bad is not None

    def act(planned: PlannedJob) -> Verdict:
        if planned == bad:
            raise error
        return Verdict.OK

    pretend(act)
    lines = _run(layout, plan)
    first, failed, last = join(plan, Store(layout.runs))
    assert [first.verdict, failed.verdict, last.verdict] == [Verdict.OK, Verdict.INFRASTRUCTURE, Verdict.OK]
    assert failed.reason.startswith("the harness failed on this run") and failed.reason.isprintable()
    assert any("the harness failed on this run" in line for line in lines)
    trace = Obstacles(layout.runs).trace_path("run", bad.key)
    assert str(trace.relative_to(layout.local)) in failed.reason
    assert "in act" in trace.read_text() and type(error).__name__ in trace.read_text()
    pretend(lambda _: Verdict.OK)
    _run(layout, plan)
    assert _verdicts(layout, plan) == [Verdict.OK] * 3 and not trace.exists()


def test_the_latest_fault_is_told_and_never_covers_a_result(layout: Layout, tmp_path: Path) -> None:
    plan, store = made_up_plan("constant", runs=3), Store(layout.runs)
    for cell, verdict in zip(plan.cells, (Verdict.OK, Verdict.INFRASTRUCTURE, Verdict.PENDING), strict=True):
        assert cell.planned is not None
        if verdict is not Verdict.PENDING:
            put_run(store, cell.planned, tmp_path / "files", verdict)
        Obstacles(layout.runs).note("run", cell.planned.key, "the harness failed", trace="line 1")
    cells = join(plan, store)
    assert [cell.verdict for cell in cells] == [Verdict.OK, Verdict.INFRASTRUCTURE, Verdict.INFRASTRUCTURE]
    assert [cell.reason.startswith("the harness failed (trace: ") for cell in cells] == [False, True, True]


def test_missing_data_is_still_the_datasets(layout: Layout, pretend: Callable[[Act], None]) -> None:
    def act(planned: PlannedJob) -> Verdict:
        raise MissingData("in none of its sources")

    pretend(act)
    plan = made_up_plan("constant", runs=4)
    _run(layout, plan)
    assert _verdicts(layout, plan) == [Verdict.MISSING_DATA] * 4


def test_a_fault_that_cannot_be_noted_ends_nothing(
    layout: Layout, pretend: Callable[[Act], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    seeds = []

    def act(planned: PlannedJob) -> Verdict:
        seeds.append(planned.job.split.seed)
        if planned.job.split.seed == 0:
            raise ValueError("one")
        return Verdict.OK

    pretend(act)
    monkeypatch.setattr(Obstacles, "note", full)
    plan = made_up_plan("constant", runs=2)
    _run(layout, plan)
    assert sorted(seeds) == [0, 1] and _verdicts(layout, plan) == [Verdict.PENDING, Verdict.OK]


def test_one_method_that_fails_the_harness_stops_its_own_runs_alone(
    layout: Layout, pretend: Callable[[Act], None]
) -> None:
    tried = []

    def act(planned: PlannedJob) -> Verdict:
        tried.append(planned.job.method)
        if planned.job.method == "als_wr":
            raise ValueError("a hostile answer")
        return Verdict.OK

    pretend(act)
    plan = made_up_plan("als_wr", "constant", runs=12)
    lines = _run(layout, plan)
    assert _verdicts(layout, plan)[12:] == [Verdict.OK] * 12
    assert 3 <= tried.count("als_wr") < 12 and any("in a row with als_wr" in line for line in lines)


def test_failures_of_several_methods_in_a_row_stop_the_campaign(
    layout: Layout, pretend: Callable[[Act], None]
) -> None:
    tried = []

    def act(planned: PlannedJob) -> Verdict:
        tried.append(planned.job.method)
        return Verdict.INFRASTRUCTURE

    pretend(act)
    stop, heard = threading.Event(), Heard()
    plan = made_up_plan("als_wr", "constant", "popularity", "lrssl", runs=3)
    with pytest.raises(EngineError, match="runs of several methods failed in a row") as refused:
        _run(layout, plan, heard, stop=stop)
    assert "harness doctor" in refused.value.todo
    assert stop.is_set() and len(tried) < 12
    assert any("failures of the machine in a row" in line for line in heard.lines)


def test_each_resumption_gets_further(layout: Layout, pretend: Callable[[Act], None]) -> None:
    """Three cells that fail the harness for ever must not be all that is ever tried."""

    def act(planned: PlannedJob) -> Verdict:
        if planned.job.split.seed < 6:
            raise ValueError("for ever")
        return Verdict.OK

    pretend(act)
    plan = made_up_plan("constant", runs=9)
    left = [9]
    while left[-1]:
        _run(layout, plan)
        left.append(_verdicts(layout, plan).count(Verdict.PENDING))
        assert left[-1] < left[-2], "nothing new was tried"
    assert _verdicts(layout, plan) == [Verdict.INFRASTRUCTURE] * 6 + [Verdict.OK] * 3
    assert len(left_to_run(join(plan, Store(layout.runs)))) == 6


def test_an_interrupt_is_nobodys_cell(layout: Layout, pretend: Callable[[Act], None]) -> None:
    def act(planned: PlannedJob) -> Verdict:
        raise KeyboardInterrupt

    pretend(act)
    with pytest.raises(KeyboardInterrupt):
        _run(layout, made_up_plan("constant"))


def _harness(layout: Layout, told: Path, seconds: float) -> None:
    """One of several harnesses: each run leaves a line."""

    def act(planned: PlannedJob) -> Verdict:
        with told.open("a") as stream:
            stream.write(f"{planned.job.split.seed}\n")
        time.sleep(seconds)
        return Verdict.OK

    _pretend(pytest.MonkeyPatch(), act)
    _run(layout, made_up_plan("constant", runs=8))


def test_harnesses_on_one_store_share_the_runs(layout: Layout, tmp_path: Path) -> None:
    told, plan = tmp_path / "told", made_up_plan("constant", runs=8)
    context = multiprocessing.get_context("fork")
    harnesses = [context.Process(target=_harness, args=(layout, told, 0.1)) for _ in range(3)]
    for harness in harnesses:
        harness.start()
    for harness in harnesses:
        harness.join()
    assert [harness.exitcode for harness in harnesses] == [0, 0, 0]
    assert sorted(told.read_text().split()) == [str(seed) for seed in range(8)], "every cell runs once"
    assert _verdicts(layout, plan) == [Verdict.OK] * 8
    assert list((layout.local / "work" / "claims").iterdir()) == []


def test_a_killed_harness_claims_nothing_any_more(layout: Layout, tmp_path: Path) -> None:
    told = tmp_path / "told"
    context = multiprocessing.get_context("fork")
    killed = context.Process(target=_harness, args=(layout, told, 60.0))
    killed.start()
    while not told.exists():
        time.sleep(0.01)
    assert killed.pid is not None
    second = context.Process(target=_harness, args=(layout, told, 0.0))
    second.start()
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    second.join()
    assert _verdicts(layout, made_up_plan("constant", runs=8)) == [Verdict.OK] * 8


def test_each_run_on_a_gpu_has_one_that_was_tried_and_is_nobody_elses(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two GPUs and four processors: never more than two runs at a time, and each knows which device is its own."""
    card, manifest = load_method(layout, "mlp"), load_manifest(layout, "synthetic_ddi")
    jobs = [make_job(card, manifest, parse_split("random", seed)) for seed in range(1, 7)]
    plan = make_plan(layout, "on a GPU", on_accelerator(layout, jobs, "cuda"), make_splits=True)
    tried, held, lent, guard = list[str](), set[str](), list[str](), threading.Lock()

    def perform(task: Task, _engine: Engine, _stop: threading.Event) -> Record:
        (own,) = limits_of(task.card, task.gpus).gpus
        with guard:
            assert own not in held
            held.add(own)
            lent.append(own)
        time.sleep(0.05)
        with guard:
            held.remove(own)
        record = record_of(task.planned, Verdict.OK).model_copy(update={"resources": {"wall_s": 1.0}})
        return Store(task.layout.runs).put(record, {})

    monkeypatch.setattr(turns, "perform", perform)
    monkeypatch.setattr(campaign, "take_image", lambda *_, **__: IMAGE)
    monkeypatch.setattr(campaign, "remove_orphans", lambda _: [])
    monkeypatch.setattr(campaign, "usable_gpus", lambda *_: [Gpu("H100", "9.0", number) for number in ("2", "5")])
    monkeypatch.setattr(campaign, "confirm_gpu", lambda *words: tried.extend(words[3].gpus))
    monkeypatch.setattr(campaign, "this_machine", lambda **more: Share(cpus=4, memory=1 << 40, gpus=more["gpus"]))
    engine = cast(Engine, SimpleNamespace(facts=None))
    run_plan(layout, plan, engine, progress=Heard())
    assert _verdicts(layout, plan) == [Verdict.OK] * 6
    assert tried == ["2", "5"] and set(lent) == {"2", "5"}
