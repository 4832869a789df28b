"""Taking turns: many runs on a bounded machine, beside other harnesses, where none can stop the others.

Runs go through the `concurrent.futures` interface. Whatever goes wrong in the harness itself on one run is
that one cell's. Only the machine's failures, three in a row, end more: of one method its runs, of several all.
The order of starting changes no answer and no table; it only keeps all processors busy until the last run ends.
"""

from __future__ import annotations

import logging
import math
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np

from harness.base.errors import CorruptData, DataError, HarnessError, WeightsError
from harness.base.foreign_text import printable, shortened
from harness.base.layout import Layout
from harness.base.progress import Progress
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.engine import Engine
from harness.execution.bulletins import Tally
from harness.execution.tasks import Task, perform
from harness.planning.budget import Budget, Share
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import Job, PlannedJob, card_of
from harness.planning.needs import RunKind, measured_seconds, run_kind
from harness.planning.obstacles import Obstacles, variant_of
from harness.results.records import Record
from harness.results.reference import seconds_in_reference
from harness.results.store import Store

log = logging.getLogger(__name__)

_GIVE_UP_AFTER = 3
_LOOK_S = 0.5
# A run is started early once all that is left takes less than this many times its own time: enough for estimates
# that are wrong by half.
_AHEAD = 2.0
_Seconds = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class CampaignState:
    """What the threads of one campaign share."""

    budget: Budget
    stop: threading.Event
    progress: Progress
    # the methods of the latest runs that the machine failed, one after the other
    failures: tuple[str, ...] = ()
    given_up: set[str] = field(default_factory=set)
    # what the machine fails is not one method's alone
    is_broken: bool = False
    guard: threading.Lock = field(default_factory=threading.Lock)
    # set when nothing more is to begin, and what runs is to be finished
    enough: threading.Event = field(default_factory=threading.Event)
    tally: Tally = field(default_factory=Tally)

    def is_ending(self) -> bool:
        """Whether nothing more is to begin."""
        return self.stop.is_set() or self.enough.is_set()


def take_turns(tasks: Sequence[Task], engine: Engine, state: CampaignState) -> None:
    """Run every task when its turn comes; returns when all have ended or were left."""
    state.progress.begin("runs", len(tasks))
    # More threads than CPUs: some wait for memory while others prepare inputs; the budget decides what runs.
    with ThreadPoolExecutor(max_workers=2 * state.budget.total.cpus, thread_name_prefix="run") as pool:
        left = list(tasks)
        # what another harness is running is left to it, and looked at when all else has run
        for patient in (False, True):
            futures = {pool.submit(_run_and_count, task, engine, state, patient=patient): task for task in left}
            left = []
            try:
                for future in as_completed(futures):
                    task, outcome = futures[future], future.result()
                    if isinstance(outcome, _Elsewhere):
                        left.append(task)
                    else:
                        _tell(task, outcome, state)
            except BaseException:
                state.stop.set()
                raise


class _Elsewhere:
    """Another harness is running this."""


def _in_turn(
    task: Task, engine: Engine, state: CampaignState, *, patient: bool
) -> Record | Exception | _Elsewhere | None:
    """Wait for a share of the machine, then run; None when the campaign, or this method, was stopped before."""
    store = Store(task.layout.runs)
    try:
        with _claim(store, task.planned.key, state, patient=patient) as mine:
            if not mine:
                return None if patient else _Elsewhere()
            if not task.again and store.standing(task.planned.key).verdict.is_final:
                return store.record(task.planned.key)
            with state.budget.lend(Share.of(task.card.resources), state.is_ending) as lent:
                if not lent or task.planned.job.method in state.given_up:
                    return None
                state.tally.begun(task.planned.key, task.planned.job.label)
                return perform(replace(task, gpus=lent.gpus), engine, state.stop)
    # Broad on purpose: a method decides what the harness reads of it, so that one that makes the harness stumble
    # would stop all others. What a person must see of it is noted with its trace; an interrupt is no Exception.
    except Exception as error:  # noqa: BLE001
        note_fault(task.layout, task.planned, error)
        return error


def _run_and_count(
    task: Task, engine: Engine, state: CampaignState, *, patient: bool
) -> Record | Exception | _Elsewhere | None:
    """Run a task in its turn, and count a failure before this thread takes the next task."""
    outcome = _in_turn(task, engine, state, patient=patient)
    if isinstance(outcome, Record):
        count_failures(task.planned.job.method, state, failed=outcome.verdict is Verdict.INFRASTRUCTURE)
    elif isinstance(outcome, Exception) and not isinstance(outcome, DataError):
        count_failures(task.planned.job.method, state, failed=True)
    return outcome


@contextmanager
def _claim(store: Store, key: str, state: CampaignState, *, patient: bool) -> Iterator[bool]:
    """Whether no other harness runs this key; with `patient`, wait until none does or a person stops."""
    while True:
        with store.claim(key) as mine:
            if mine or not patient or state.is_ending():
                yield mine
                return
        state.stop.wait(_LOOK_S)


def note_fault(layout: Layout, planned: PlannedJob, error: Exception) -> None:
    """Note why this cell, and every other cell that would meet the same obstacle, has no run.

    Data that is missing or differs from its record concerns all cells of the dataset; a pretrained model those of
    its variant; anything else this cell alone.
    """
    obstacles, job = Obstacles(layout.runs), planned.job
    try:
        if isinstance(error, WeightsError):
            obstacles.note("variant", variant_of(job), str(error))
        elif isinstance(error, DataError):
            obstacles.note("dataset", job.dataset, str(error))
        else:
            trace = "".join(traceback.format_exception(error))
            obstacles.note("run", planned.key, fault_in_words(error), trace=trace)
    except OSError as unwritable:
        log.warning("%s: why it has no run could not be noted: %s", job.label, unwritable)


def fault_in_words(error: Exception) -> str:
    """A fault of the harness as a reason for a table: one line, printable, bounded."""
    name = "" if isinstance(error, HarnessError) else f"{type(error).__name__}: "
    return shortened(printable(f"the harness failed on this run: {name}{' '.join(str(error).split())}"))


def _tell(task: Task, outcome: Record | Exception | None, state: CampaignState) -> None:
    job = task.planned.job
    if outcome is None:
        return
    state.tally.ended(task.planned.key, _verdict_of(outcome), expected=task.expected_s)
    if isinstance(outcome, DataError):
        state.progress.step(f"{Verdict.MISSING_DATA}: {job.label}: {outcome.what}")
        return
    if isinstance(outcome, Exception):
        state.progress.step(f"{Verdict.INFRASTRUCTURE}: {job.label}: {fault_in_words(outcome)}")
        return
    reason = "" if outcome.verdict is Verdict.OK else f": {outcome.reason}"
    state.progress.step(f"{outcome.verdict}: {job.label} ({outcome.resources['wall_s']:.1f} s){reason}")


def _verdict_of(outcome: Record | Exception) -> Verdict:
    if isinstance(outcome, Record):
        return outcome.verdict
    return Verdict.MISSING_DATA if isinstance(outcome, DataError) else Verdict.INFRASTRUCTURE


def count_failures(method: str, state: CampaignState, *, failed: bool) -> None:
    """After several failures in a row, give up the method that has all of them, or all if several do."""
    with state.guard:
        state.failures = (*state.failures, method) if failed else ()
        if len(state.failures) < _GIVE_UP_AFTER or state.stop.is_set():
            return
        if len(set(state.failures)) > 1:
            state.is_broken = True
            state.stop.set()
            what = "failures of the machine in a row: stopping; try `harness doctor`"
        elif method not in state.given_up:
            state.given_up.add(method)
            what = f"failures in a row with {method}: its other runs are left for the next time"
        else:
            return
    state.progress.note(f"{_GIVE_UP_AFTER} {what}")


class Expected:
    """Expected wall seconds of runs.

    From runs of the same method on the same dataset: those of this machine, else the committed reference results;
    else the limit of the method's card.
    """

    def __init__(self, layout: Layout, joined: Iterable[Cell], progress: Progress) -> None:
        self._layout = layout
        self._progress = progress
        self._seconds: dict[RunKind, float | None] = {**measured_seconds(joined)}

    def seconds(self, cell: Cell) -> float:
        """Expected wall seconds of the run of a cell."""
        before = self.before(cell)
        return float(card_of(self._layout, cell.job).resources.seconds) if before is None else before

    def before(self, cell: Cell) -> float | None:
        """The wall seconds of such runs, here or in the reference results; None where there are none."""
        kind = run_kind(cell.job)
        if kind not in self._seconds:
            self._seconds[kind] = self._in_reference(cell.job)
        return self._seconds[kind]

    def all_before(self, cells: Cells) -> Iterable[float]:
        """The same of each of the cells; no number where there are none."""
        return cells.by_kind(lambda cell: math.nan if (before := self.before(cell)) is None else before)

    def _in_reference(self, job: Job) -> float | None:
        if extends := load_manifest(self._layout, job.dataset).extends:
            # a question of one's own: the dataset, and a few things more
            job = job.model_copy(update={"dataset": extends})
        try:
            seconds = seconds_in_reference(self._layout, job)
        except CorruptData as error:
            # reading it is the audit's and the comparison's business; here only an order rests on it
            self._progress.note(f"order of starting: {error.what} ({error.where})")
            return None
        return median(seconds) if seconds else None


def starting_order(cells: Sequence[Cell], seconds: Callable[[Cell], float], processors: int) -> Cells:
    """The cells in the order in which they should be started on so many processors.

    The order of the plan, so that a campaign which is stopped has about as many seeds of everything; but a run
    starts before its turn as soon as it would otherwise be the last to end. What the machine failed stays last.
    `seconds` are the same for all cells of a kind.
    """
    every = Cells.of(cells)
    failed = every.having(lambda verdict: verdict is Verdict.INFRASTRUCTURE)
    if not failed.any():
        return every.chosen(_in_time(every.by_kind(seconds), processors))
    lengths = every.by_kind(seconds)
    parts = (np.flatnonzero(~failed), np.flatnonzero(failed))
    return every.chosen(np.concatenate([some[_in_time(lengths[some], processors)] for some in parts]))


def _in_time(lengths: _Seconds, processors: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The places of these lengths in the order in which they are started."""
    by_length = np.argsort(-lengths, kind="stable").astype(np.uint32)
    order, started = np.empty(len(lengths), np.uint32), bytearray(len(lengths))
    turn = long = 0
    left = math.fsum(lengths)
    for number in range(len(lengths)):
        while started[turn]:
            turn += 1
        while started[by_length[long]]:
            long += 1
        longest = int(by_length[long])
        place = longest if lengths[longest] * processors * _AHEAD >= left else turn
        order[number] = place
        started[place] = True
        left -= float(lengths[place])
    return order
