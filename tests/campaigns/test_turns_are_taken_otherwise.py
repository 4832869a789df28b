"""Which run begins when, what is told of it, and what a row of failures ends. Runs are made up."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from harness.base.errors import EngineError, HarnessError, MissingData, WeightsError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.engine import Engine
from harness.execution import turns
from harness.execution.tasks import Task
from harness.execution.turns import (
    CampaignState,
    Expected,
    count_failures,
    fault_in_words,
    note_fault,
    starting_order,
    take_turns,
)
from harness.planning.budget import Budget, Share
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import Job
from harness.planning.obstacles import Obstacles
from harness.results.records import Record
from harness.results.store import Store
from tests.campaigns.test_a_plan_is_run_otherwise import Heard
from tests.campaigns.test_one_run_ends_the_campaign import IMAGE
from tests.core.factories import planned_job, put_run, record_of

ENGINE = cast(Engine, SimpleNamespace(name="an engine"))
Act = Callable[[Task], Any]


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def state(heard: Heard) -> CampaignState:
    return CampaignState(Budget(Share(1, 64 << 30)), threading.Event(), heard)


@pytest.fixture
def perform(monkeypatch: pytest.MonkeyPatch) -> Callable[[Act], list[Task]]:
    """Runs that end as an act says; the tasks that were performed."""

    def use(act: Act) -> list[Task]:
        performed: list[Task] = []

        def instead(task: Task, engine: Engine, stop: threading.Event) -> Record:
            assert engine is ENGINE
            performed.append(task)
            verdict = act(task)
            record = record_of(task.planned, verdict, f"so {verdict}")
            return record.model_copy(update={"resources": {"wall_s": 1.25}})

        monkeypatch.setattr(turns, "perform", instead)
        return performed

    return use


def task_of(layout: Layout, seed: int = 1, method: str = "constant", **more: Any) -> Task:
    return Task(layout, planned_job(seed, method), IMAGE, **more)


def label(seed: int, method: str = "constant") -> str:
    return planned_job(seed, method).job.label


def plainly(lengths: list[int], processors: int) -> list[int]:
    """The longest that is left as soon as all that is left is no more than twice its share, else the first."""
    left, order = list(range(len(lengths))), list[int]()
    while left:
        longest = max(left, key=lambda place: (lengths[place], -place))
        is_late = 2 * processors * lengths[longest] >= sum(lengths[place] for place in left)
        order.append(longest if is_late else left[0])
        left.remove(order[-1])
    return order


def cells_of(seconds: list[int], failed: set[int]) -> tuple[list[Cell], Callable[[Cell], float]]:
    """A cell of a kind of its own for each length."""
    job = planned_job().job
    cells = [
        Cell(
            job.model_copy(update={"parameters": {"number": number}}),
            None,
            Verdict.INFRASTRUCTURE if number in failed else Verdict.PENDING,
        )
        for number in range(len(seconds))
    ]
    return cells, lambda cell: float(seconds[cell.job.parameters["number"]])


@given(
    seconds=some.lists(some.integers(0, 50), max_size=25),
    processors=some.integers(1, 4),
    failed=some.sets(some.integers(0, 24), max_size=5),
)
def test_the_order_is_that_of_its_plain_definition(seconds: list[int], processors: int, failed: set[int]) -> None:
    cells, of_cell = cells_of(seconds, failed)
    order = [cell.job.parameters["number"] for cell in starting_order(cells, of_cell, processors)]
    parts = [[n for n in range(len(seconds)) if (n in failed) is late] for late in (False, True)]
    assert order == [
        part[place] for part in parts for place in plainly([seconds[number] for number in part], processors)
    ]


def test_each_run_is_told_with_its_end(
    layout: Layout, heard: Heard, state: CampaignState, perform: Callable[[Act], list[Task]]
) -> None:
    ends: dict[int, Verdict | Exception] = {
        1: Verdict.OK,
        2: Verdict.ERROR,
        3: MissingData("pairs.csv is missing", where="x"),
        4: ValueError("four\nlines"),
        5: Verdict.INTERRUPTED,
    }

    def act(task: Task) -> Verdict:
        end = ends[task.planned.job.split.seed]
        if isinstance(end, Exception):
            raise end
        return end

    performed = perform(act)
    tasks = [task_of(layout, seed, expected_s=float(seed)) for seed in ends]
    state.tally.expect(task.expected_s for task in tasks)
    take_turns(tasks, ENGINE, state)
    assert len(performed) == 5 and heard.lines[0] == "# runs: 5"
    assert sorted(heard.lines[1:]) == sorted(
        [
            f"- ok: {label(1)} (1.2 s)",
            f"- error: {label(2)} (1.2 s): so error",
            f"- missing-data: {label(3)}: pairs.csv is missing",
            f"- infrastructure: {label(4)}: the harness failed on this run: ValueError: four lines",
            f"- interrupted: {label(5)} (1.2 s): so interrupted",
        ]
    )
    told = state.tally.bulletin("x", "plan", "local", None)
    assert told.ended == {"ok": 1, "error": 1, "missing-data": 1, "infrastructure": 1, "interrupted": 1}
    assert not told.underway and told.seconds_left == 0.0, "what was expected of each has been taken"
    assert set(Obstacles(layout.runs).all("dataset")) == {"synthetic"}
    assert set(Obstacles(layout.runs).all("run")) == {planned_job(4).key}


def test_a_run_is_said_to_be_at_work_while_it_is(
    layout: Layout, state: CampaignState, perform: Callable[[Act], list[Task]]
) -> None:
    seen, guard = list[bool](), threading.Lock()
    at_work = [0]

    def act(task: Task) -> Verdict:
        with guard:
            at_work[0] += 1
            assert at_work[0] == 1, "one processor, one run at a time"
        shown = [one.label for one in state.tally.bulletin("x", "plan", "local", None).underway]
        seen.append(task.planned.job.label in shown)
        with guard:
            at_work[0] -= 1
        return Verdict.OK

    perform(act)
    take_turns([task_of(layout, seed) for seed in (1, 2, 3)], ENGINE, state)
    assert seen == [True] * 3


def test_a_run_that_was_stored_meanwhile_is_not_made_again_unless_asked(
    layout: Layout, tmp_path: Path, heard: Heard, state: CampaignState, perform: Callable[[Act], list[Task]]
) -> None:
    store, performed = Store(layout.runs), perform(lambda task: Verdict.OK)
    record = put_run(store, planned_job(1), tmp_path / "files", Verdict.ERROR)
    store.amend(record.model_copy(update={"resources": {"wall_s": 9.0}}))
    put_run(store, planned_job(2), tmp_path / "files", Verdict.ERROR)
    put_run(store, planned_job(3), tmp_path / "files", Verdict.INFRASTRUCTURE)
    take_turns([task_of(layout, 1), task_of(layout, 2, again=True), task_of(layout, 3)], ENGINE, state)
    assert sorted(task.planned.job.split.seed for task in performed) == [2, 3]
    assert f"- error: {label(1)} (9.0 s): {Verdict.ERROR.meaning}" in heard.lines


def test_a_run_has_the_share_of_its_card_and_the_devices_that_were_lent(
    layout: Layout, heard: Heard, perform: Callable[[Act], list[Task]], monkeypatch: pytest.MonkeyPatch
) -> None:
    performed, asked = perform(lambda task: Verdict.OK), list[Any]()

    class Lends(Budget):
        @contextmanager
        def lend(self, share: Share, ended: Callable[[], bool]) -> Iterator[Any]:
            asked.append((share, ended == own.is_ending))
            with super().lend(share, ended) as lent:
                yield replace(lent, gpus=("7",))

    own = CampaignState(Lends(Share(2, 64 << 30)), threading.Event(), heard)
    task = task_of(layout)
    take_turns([task], ENGINE, own)
    assert asked == [(Share.of(task.card.resources), True)]
    assert [one.gpus for one in performed] == [("7",)] and replace(performed[0], gpus=()) == task


def test_twice_as_many_threads_as_processors_wait_for_their_share(
    layout: Layout, state: CampaignState, perform: Callable[[Act], list[Task]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = list[Any]()

    def pool(**named: Any) -> Any:
        pools.append(named)
        return ThreadPoolExecutor(**named)

    monkeypatch.setattr(turns, "ThreadPoolExecutor", pool)
    perform(lambda task: Verdict.OK)
    take_turns([task_of(layout)], ENGINE, replace(state, budget=Budget(Share(3, 64 << 30))))
    assert pools == [{"max_workers": 6, "thread_name_prefix": "run"}]


def test_what_another_harness_runs_is_looked_at_when_all_else_has_run(
    layout: Layout, tmp_path: Path, heard: Heard, state: CampaignState, perform: Callable[[Act], list[Task]]
) -> None:
    claimed, release = threading.Event(), threading.Event()

    def elsewhere() -> None:
        with Store(layout.runs).claim(planned_job(1).key) as mine:
            assert mine
            claimed.set()
            release.wait(20)
            record = put_run(Store(layout.runs), planned_job(1), tmp_path / "files")
            Store(layout.runs).amend(record.model_copy(update={"resources": {"wall_s": 5.0}}))

    def act(task: Task) -> Verdict:
        if task.planned.job.split.seed == 3:
            release.set()
        return Verdict.OK

    other = threading.Thread(target=elsewhere)
    other.start()
    claimed.wait(20)
    performed = perform(act)
    take_turns([task_of(layout, seed) for seed in (1, 2, 3)], ENGINE, state)
    other.join()
    assert sorted(task.planned.job.split.seed for task in performed) == [2, 3], "it was made elsewhere"
    assert heard.lines[-1] == f"- ok: {label(1)} (5.0 s)"


@pytest.mark.parametrize("ended", ["stop", "enough"])
def test_who_stops_need_not_wait_for_another_harness(
    layout: Layout, heard: Heard, state: CampaignState, perform: Callable[[Act], list[Task]], ended: str
) -> None:
    def act(task: Task) -> Verdict:
        getattr(state, ended).set()
        return Verdict.OK

    performed = perform(act)
    with Store(layout.runs).claim(planned_job(1).key) as mine:
        assert mine
        take_turns([task_of(layout, seed) for seed in (1, 2, 3)], ENGINE, state)
    (made,) = performed
    assert heard.lines[1:] == [f"- ok: {made.planned.job.label} (1.2 s)"]
    assert state.is_ending()


def test_runs_of_a_method_that_was_given_up_do_not_begin(
    layout: Layout, heard: Heard, state: CampaignState, perform: Callable[[Act], list[Task]]
) -> None:
    performed = perform(lambda task: Verdict.OK)
    state.given_up.add("als_wr")
    take_turns([task_of(layout, 1, "als_wr"), task_of(layout, 2)], ENGINE, state)
    assert [task.planned.job.method for task in performed] == ["constant"]
    assert heard.lines == ["# runs: 2", f"- ok: {label(2)} (1.2 s)"]


def test_an_interrupt_stops_what_runs(
    layout: Layout, state: CampaignState, perform: Callable[[Act], list[Task]]
) -> None:
    def act(task: Task) -> Verdict:
        raise KeyboardInterrupt

    perform(act)
    with pytest.raises(KeyboardInterrupt):
        take_turns([task_of(layout)], ENGINE, state)
    assert state.stop.is_set()


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (Verdict.INFRASTRUCTURE, True),
        (ValueError("x"), True),
        (Verdict.ERROR, False),
        (MissingData("x"), False),
    ],
)
def test_only_what_the_machine_failed_is_counted(
    layout: Layout, state: CampaignState, perform: Callable[[Act], list[Task]], outcome: Any, counts: bool
) -> None:
    def act(task: Task) -> Verdict:
        if isinstance(outcome, Exception):
            raise outcome
        return cast(Verdict, outcome)

    perform(act)
    take_turns([task_of(layout)], ENGINE, state)
    assert state.failures == (("constant",) if counts else ())


def test_missing_data_end_no_row_of_failures(
    layout: Layout, state: CampaignState, perform: Callable[[Act], list[Task]]
) -> None:
    def act(task: Task) -> Verdict:
        raise MissingData("x")

    perform(act)
    state.failures = ("a", "b")
    take_turns([task_of(layout)], ENGINE, state)
    assert state.failures == ("a", "b")


def test_three_failures_in_a_row_give_up_a_method_once(heard: Heard, state: CampaignState) -> None:
    for failed in (True, True, False):
        count_failures("a", state, failed=failed)
    assert state.failures == ()
    for _ in range(2):
        count_failures("a", state, failed=True)
    assert heard.lines == [] and not state.given_up
    count_failures("a", state, failed=True)
    assert state.given_up == {"a"} and not state.stop.is_set() and not state.is_broken
    told = ["3 failures in a row with a: its other runs are left for the next time"]
    assert heard.lines == told
    count_failures("a", state, failed=True)
    assert heard.lines == told, "told once"


@pytest.mark.parametrize("methods", ["aab", "baa", "aba", "abc"])
def test_three_failures_in_a_row_of_several_methods_end_all(
    heard: Heard, state: CampaignState, methods: str
) -> None:
    for name in methods[:2]:
        count_failures(name, state, failed=True)
    assert not state.is_broken
    count_failures(methods[2], state, failed=True)
    assert state.is_broken and state.stop.is_set() and not state.given_up
    told = ["3 failures of the machine in a row: stopping; try `harness doctor`"]
    assert heard.lines == told
    count_failures("c", state, failed=True)
    assert heard.lines == told, "it is ending already"


def test_a_fault_is_noted_where_all_who_meet_it_see_it(layout: Layout) -> None:
    planned, obstacles = planned_job(), Obstacles(layout.runs)
    note_fault(layout, planned, WeightsError("no model", where="there", todo="get it"))
    note_fault(layout, planned, MissingData("no file", where="here"))
    note_fault(layout, planned, EngineError("the engine  is\ngone"))
    assert obstacles.all("variant") == {"constant-published": "no model\n  where: there\n  to do: get it"}
    assert obstacles.all("dataset") == {"synthetic": "no file\n  where: here"}
    (reason,) = obstacles.all("run").values()
    assert reason.startswith("the harness failed on this run: the engine is gone (trace: ")
    assert "EngineError: the engine" in obstacles.trace_path("run", planned.key).read_text()


def test_a_fault_that_can_not_be_noted_is_logged(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Obstacles, "note", full)
    note_fault(layout, planned_job(), ValueError("x"))
    (record,) = caplog.records
    words = f"{label(1)}: why it has no run could not be noted: [Errno 28] No space left on device"
    assert (record.levelname, record.getMessage()) == ("WARNING", words)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (HarnessError("it is gone"), "it is gone"),
        (ValueError("a\x1b[2J\n\tb"), "ValueError: a\\x1b[2J b"),
        (KeyError(), "KeyError: "),
    ],
)
def test_a_fault_is_told_in_one_bounded_line(error: Exception, words: str) -> None:
    assert fault_in_words(error) == f"the harness failed on this run: {words}"
    assert len(fault_in_words(ValueError("x" * 5000))) == 1004


def test_the_time_of_a_run_is_looked_up_once_for_its_kind(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = list[str]()

    def seconds_in_reference(layout: Layout, job: Job) -> list[float]:
        looked.append(job.method)
        return [4.0, 1.0, 2.0, 9.0] if job.method == "als_wr" else []

    monkeypatch.setattr(turns, "seconds_in_reference", seconds_in_reference)
    expected = Expected(layout, [], Heard())
    cells = [
        Cell(planned.job, planned)
        for planned in (planned_job(seed, name) for seed in (1, 2) for name in ("als_wr", "constant"))
    ]
    assert [expected.before(cell) for cell in cells] == [3.0, None, 3.0, None]
    assert looked == ["als_wr", "constant"]
    assert expected.seconds(cells[0]) == 3.0 and expected.seconds(cells[1]) == 600.0
    every = list(expected.all_before(Cells(cells)))
    assert every[::2] == [3.0, 3.0] and all(math.isnan(one) for one in every[1::2])
    # nor does it depend on whether the first of a kind can be run
    again = Expected(layout, [], Heard())
    assert again.before(replace(cells[0], planned=None)) == again.before(cells[0]) == 3.0


def test_a_question_of_ones_own_takes_as_long_as_the_dataset_that_it_extends(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = planned_job()
    own = asked.job.model_copy(update={"dataset": "synthetic_new_12345678"})
    manifest = load_manifest(layout, "synthetic")
    larger = manifest.model_copy(update={"name": own.dataset, "extends": "synthetic"})
    monkeypatch.setattr(turns, "load_manifest", lambda _, name: larger if name == own.dataset else manifest)
    monkeypatch.setattr(turns, "seconds_in_reference", lambda _, job: [3.0] if job == asked.job else [])
    assert asked.job.dataset == "synthetic"
    assert Expected(layout, [], Heard()).before(Cell(own, None)) == 3.0


def test_what_was_run_here_tells_before_the_reference(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(turns, "seconds_in_reference", never)
    planned = planned_job()
    records = [{"resources": {"wall_s": seconds}} for seconds in (5.0, 7.0, 30.0)]
    joined = [Cell(planned.job, planned, Verdict.OK, "", record) for record in records]
    assert Expected(layout, joined, Heard()).seconds(Cell(planned.job, planned)) == 7.0
