"""Campaigns: run what is left of a plan, a bounded number of containers at a time, and store every outcome.

Runs are submitted through the `concurrent.futures` interface. A method's failure is an outcome like any other, and
whatever goes wrong in the harness itself is that one cell's. Only the machine's failures, three in a row, end a
campaign early: with one method they end that method's runs, with several the campaign's.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harness.budget import Budget, Share, this_machine
from harness.disk import room_on
from harness.engine import Engine, remove_orphans
from harness.engine.leftovers import remove_stubborn
from harness.errors import DataError, HarnessError, ImageError, WeightsError
from harness.gpus import confirm_gpu, require_gpu
from harness.images import BuiltImage, Supply, ensure_image, remove_images
from harness.jobs import card_of
from harness.layout import Layout
from harness.obstacles import Obstacles, image_of, variant_of
from harness.ownership import abandoned_folders
from harness.plan import Cell, Plan, join
from harness.progress import Progress, Silent
from harness.records import Record
from harness.runs.log import printable, shortened
from harness.store import Store
from harness.tasks import Task, limits_of, perform
from harness.vocabulary import Verdict

log = logging.getLogger(__name__)

_GIVE_UP_AFTER = 3
_LOOK_S = 0.5


@dataclass(frozen=True)
class Choices:
    """How a person wants a plan to be run."""

    mirrors: tuple[Path, ...] = ()
    workers: int | None = None
    again: frozenset[Verdict] = frozenset()
    remove_images: bool = False
    upstream: Path | None = None


@dataclass
class _State:
    """What the threads of one campaign share."""

    budget: Budget
    stop: threading.Event
    progress: Progress
    # the methods of the latest runs that the machine failed, one after the other
    failures: tuple[str, ...] = ()
    given_up: set[str] = field(default_factory=set)
    guard: threading.Lock = field(default_factory=threading.Lock)


def left_to_run(plan: Plan, store: Store, again: Iterable[Verdict] = ()) -> list[Cell]:
    """The cells whose verdict is not final, and those a person wants again; what the machine failed comes last."""
    wanted = frozenset(again)
    left = [
        cell
        for cell in join(plan, store)
        if cell.planned is not None and (not cell.verdict.is_final or cell.verdict in wanted)
    ]
    # so that a campaign which is ended by the same failures each time gets further each time
    return sorted(left, key=lambda cell: cell.verdict is Verdict.INFRASTRUCTURE)


def run_plan(
    layout: Layout,
    plan: Plan,
    engine: Engine,
    *,
    choices: Choices | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Run what is left. Outcomes are in the store when this returns; setting `stop` ends it early and cleanly."""
    choices = choices or Choices()
    store = Store(layout.runs)
    layout.local.mkdir(parents=True, exist_ok=True)
    cells = left_to_run(plan, store, choices.again)
    on_gpu = sorted({cell.job.method for cell in cells if cell.job.accelerator == "cuda"})
    if on_gpu:
        require_gpu(layout, engine.facts, on_gpu)
    share = this_machine(workers=choices.workers, gpus=1 if on_gpu else 0)
    state = _State(Budget(share, partial(room_on, layout.local)), stop or threading.Event(), progress or Silent())
    cells = _fitting(layout, cells, state)
    _tidy(layout, engine, state.progress)
    for group in _groups(cells, one_method_at_a_time=choices.remove_images):
        supply = Supply(choices.mirrors, progress=_telling_fetches(state), announce=state.progress.note)
        images = _images(layout, engine, group, state, supply)
        _run_all(
            [
                Task(
                    layout,
                    cell.planned,
                    images[image_of(cell.job)],
                    choices.mirrors,
                    choices.upstream,
                    again=cell.verdict in choices.again,
                )
                for cell in group
                if cell.planned is not None and image_of(cell.job) in images
            ],
            engine,
            state,
        )
        if choices.remove_images:
            for job in {image_of(cell.job): cell.job for cell in group}.values():
                remove_images(engine, layout, job.method, job.accelerator)
        if state.stop.is_set():
            return


def _fitting(layout: Layout, cells: Sequence[Cell], state: _State) -> list[Cell]:
    """The cells this machine can run at all; the others say what is wanting, and cost nobody else a run."""
    fits = {}
    for name, job in {variant_of(cell.job): cell.job for cell in cells}.items():
        share = Share.of(card_of(layout, job).resources)
        fits[name] = state.budget.total.fits(share)
        if fits[name]:
            Obstacles(layout.runs).clear("variant", name)
        else:
            reason = f"{job.method}/{job.variant} needs {share}; this machine can lend {state.budget.total}"
            Obstacles(layout.runs).note("variant", name, reason)
            state.progress.note(reason)
    return [cell for cell in cells if fits[variant_of(cell.job)]]


def _tidy(layout: Layout, engine: Engine, progress: Progress) -> None:
    """Remove the containers and temporary folders of harnesses that were killed."""
    for orphan in remove_orphans(engine):
        progress.note(f"removed a container that a killed harness had left: {orphan.run}")
    for folder in abandoned_folders(layout.local / "work"):
        remove_stubborn(folder)


def mark_unstable(store: Store, record: Record, reason: str) -> Record:
    """A repetition differed: the run is no result any more, and says why."""
    marked = record.model_copy(update={"verdict": Verdict.UNSTABLE, "reason": reason})
    store.amend(marked)
    return marked


def _groups(cells: Sequence[Cell], *, one_method_at_a_time: bool) -> list[list[Cell]]:
    if not one_method_at_a_time:
        return [list(cells)] if cells else []
    methods = dict.fromkeys(cell.job.method for cell in cells)
    return [[cell for cell in cells if cell.job.method == method] for method in methods]


def _images(
    layout: Layout, engine: Engine, cells: Sequence[Cell], state: _State, supply: Supply
) -> dict[str, BuiltImage]:
    jobs = {image_of(cell.job): cell.job for cell in cells}
    state.progress.begin("images", len(jobs))
    images: dict[str, BuiltImage] = {}
    for name, job in jobs.items():
        if state.stop.is_set():
            break
        try:
            image = ensure_image(engine, layout, job.method, job.accelerator, supply=supply)
            if job.accelerator == "cuda":
                confirm_gpu(engine, layout, image, limits_of(card_of(layout, job)))
            images[name] = image
        except (ImageError, DataError) as error:
            # One method's image must not cost the others their runs: its cells say why they have none.
            Obstacles(layout.runs).note("method", name, str(error))
            state.progress.step(f"{Verdict.INFRASTRUCTURE}: no image of {name}: {error}")
            continue
        Obstacles(layout.runs).clear("method", name)
        state.progress.step(f"{image.name}: {image.size_bytes / 1e6:.0f} MB")
    return images


def _telling_fetches(state: _State) -> Callable[[int, int, object], None]:
    """The first and the last of many parts are worth a line; the ones between would drown the rest."""

    def tell(done: int, total: int, _part: object) -> None:
        if done in (1, total):
            state.progress.note(f"fetched {done} of {total} parts")

    return tell


def _run_all(tasks: Sequence[Task], engine: Engine, state: _State) -> None:
    state.progress.begin("runs", len(tasks))
    # More threads than CPUs: some wait for memory while others prepare inputs; the budget decides what runs.
    with ThreadPoolExecutor(max_workers=2 * state.budget.total.cpus, thread_name_prefix="run") as pool:
        left = list(tasks)
        # what another harness is running is left to it, and looked at when all else has run
        for patient in (False, True):
            futures = {pool.submit(_counted, task, engine, state, patient=patient): task for task in left}
            left = []
            try:
                for future in as_completed(futures):
                    task, ended = futures[future], future.result()
                    if isinstance(ended, _Elsewhere):
                        left.append(task)
                    else:
                        _tell(task, ended, state)
            except BaseException:
                state.stop.set()
                raise


class _Elsewhere:
    """Another harness is running this."""


def _in_turn(
    task: Task, engine: Engine, state: _State, *, patient: bool
) -> Record | Exception | _Elsewhere | None:
    """Wait for a share of the machine, then run; None when the campaign, or this method, was stopped before."""
    store = Store(task.layout.runs)
    try:
        with _claimed(store, task.planned.key, state.stop, patient=patient) as mine:
            if not mine:
                return None if patient else _Elsewhere()
            if not task.again and store.standing(task.planned.key).verdict.is_final:
                return store.record(task.planned.key)
            with state.budget.lend(Share.of(task.card.resources), state.stop) as granted:
                if not granted or task.planned.job.method in state.given_up:
                    return None
                return perform(task, engine, state.stop)
    # Broad on purpose: a method decides what the harness reads of it, so that one that makes the harness stumble
    # would stop all others. What a person must see of it is noted with its trace; an interrupt is no Exception.
    except Exception as error:  # noqa: BLE001
        _note(task, error)
        return error


def _counted(
    task: Task, engine: Engine, state: _State, *, patient: bool
) -> Record | Exception | _Elsewhere | None:
    """A run in its turn; before this thread takes another, it is known whether there should be one."""
    ended = _in_turn(task, engine, state, patient=patient)
    if isinstance(ended, Record):
        _count(task.planned.job.method, state, failed=ended.verdict is Verdict.INFRASTRUCTURE)
    elif isinstance(ended, Exception) and not isinstance(ended, DataError):
        _count(task.planned.job.method, state, failed=True)
    return ended


@contextmanager
def _claimed(store: Store, key: str, stop: threading.Event, *, patient: bool) -> Iterator[bool]:
    """Whether no other harness runs this; who is patient waits until none does, or until a person stops."""
    while True:
        with store.claim(key) as mine:
            if mine or not patient or stop.is_set():
                yield mine
                return
        stop.wait(_LOOK_S)


def _note(task: Task, error: Exception) -> None:
    """Write beside the runs what this cell, and all cells that would meet the same, has no run for.

    Data that can't be had, or is not what was recorded, costs the cells of its dataset and no others; a pretrained
    model those of its variant; anything else this cell alone.
    """
    obstacles, job = Obstacles(task.layout.runs), task.planned.job
    try:
        if isinstance(error, WeightsError):
            obstacles.note("variant", variant_of(job), str(error))
        elif isinstance(error, DataError):
            obstacles.note("dataset", job.dataset, str(error))
        else:
            trace = "".join(traceback.format_exception(error))
            obstacles.note("run", task.planned.key, _words(error), trace=trace)
    except OSError as unwritable:
        log.warning("%s: why it has no run could not be noted: %s", job.label, unwritable)


def _words(error: Exception) -> str:
    """A fault of the harness as a reason for a table: one line, printable, bounded."""
    name = "" if isinstance(error, HarnessError) else f"{type(error).__name__}: "
    return shortened(printable(f"the harness failed on this run: {name}{' '.join(str(error).split())}"))


def _tell(task: Task, ended: Record | Exception | None, state: _State) -> None:
    job = task.planned.job
    if ended is None:
        return
    if isinstance(ended, DataError):
        state.progress.step(f"{Verdict.MISSING_DATA}: {job.label}: {ended.what}")
        return
    if isinstance(ended, Exception):
        state.progress.step(f"{Verdict.INFRASTRUCTURE}: {job.label}: {_words(ended)}")
        return
    reason = "" if ended.verdict is Verdict.OK else f": {ended.reason}"
    state.progress.step(f"{ended.verdict}: {job.label} ({ended.resources['wall_s']:.1f} s){reason}")


def _count(method: str, state: _State, *, failed: bool) -> None:
    """After so many failures in a row, leave the method that has all of them, or everything if several have."""
    with state.guard:
        state.failures = (*state.failures, method) if failed else ()
        if len(state.failures) < _GIVE_UP_AFTER or state.stop.is_set():
            return
        if len(set(state.failures)) > 1:
            state.stop.set()
            told = "failures of the machine in a row: stopping; try `harness doctor`"
        elif method not in state.given_up:
            state.given_up.add(method)
            told = f"failures in a row with {method}: its other runs are left for the next time"
        else:
            return
    state.progress.note(f"{_GIVE_UP_AFTER} {told}")
