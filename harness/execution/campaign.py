"""Campaigns: run what is left of a plan, a bounded number of containers at a time, and store every outcome.

A method's failure is an outcome like any other; only the machine's failures, three in a row, end a campaign early.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from harness.base.errors import DataError, EngineError, ImageError
from harness.base.layout import Layout
from harness.base.machine import room_on
from harness.base.ownership import abandoned_folders
from harness.base.progress import Progress, Silent
from harness.base.vocabulary import Verdict
from harness.engine import Engine, remove_orphans
from harness.engine.build_cache import empty_build_cache, may_empty_build_cache
from harness.engine.leftovers import remove_stubborn
from harness.execution.bulletins import telling
from harness.execution.cluster import LOCAL, Cluster, check_workers, wanted_file
from harness.execution.desk import hand_out
from harness.execution.errands import Errand, own_meaning
from harness.execution.gpus import confirm_gpu, usable_gpus
from harness.execution.runs.faults import engine_faults, explain
from harness.execution.tasks import Task, limits_of
from harness.execution.turns import CampaignState, Expected, starting_order, take_turns
from harness.images import BuiltImage, Supply, remove_images, take_image
from harness.images.fetch import few_notes
from harness.planning.budget import Budget, Share, this_machine
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import card_of
from harness.planning.obstacles import Obstacles, image_of, variant_of
from harness.proof.plans import LoggedCell, enter_plan
from harness.results.records import Record
from harness.results.store import Store


@dataclass(frozen=True)
class Choices:
    """How a person wants a plan to be run."""

    mirrors: tuple[Path, ...] = ()
    workers: int | None = None
    again: frozenset[Verdict] = frozenset()
    remove_images: bool = False
    upstream: Path | None = None


def left_to_run(cells: Iterable[Cell], again: Iterable[Verdict] = ()) -> Cells:
    """The cells whose verdict is not final or is one of `again`; those that the machine failed come last."""
    verdicts, every = frozenset(again), Cells.of(cells)
    left = every.having(lambda verdict: not verdict.is_final or verdict in verdicts)
    left &= every.by_kind(lambda cell: cell.planned is not None) > 0
    failed = every.having(lambda verdict: verdict is Verdict.INFRASTRUCTURE)
    # so that a campaign which is ended by the same failures each time gets further each time
    return every.chosen(np.concatenate([np.flatnonzero(left & ~failed), np.flatnonzero(left & failed)]))


def run_cells(
    layout: Layout,
    joined: Sequence[Cell],
    engine: Engine,
    *,
    choices: Choices | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    name: str = "",
    announced: Sequence[Cell] = (),
) -> bool:
    """Run what is left of cells that were joined with their records: a plan, which enters the log by its `name`.

    Of a shard all cells that were `announced` enter it, so that each machine's log tells of the whole plan.
    Outcomes are in the store when this returns. Setting `stop` ends it early and cleanly, and so does who asks for
    it (`harness.execution.bulletins`): then it returns True. `EngineError` if the machine failed runs of several
    methods in a row.
    """
    choices = choices or Choices()
    layout.local.mkdir(parents=True, exist_ok=True)
    cells = left_to_run(joined, choices.again)
    on_gpu = sorted({cell.job.method for cell in cells.of_each_kind() if cell.job.accelerator == "cuda"})
    gpus = [gpu.number for gpu in usable_gpus(layout, engine.facts, on_gpu)] if on_gpu else []
    share = this_machine(workers=choices.workers, gpus=len(gpus))
    budget = Budget(share, partial(room_on, layout.local), gpus)
    state = CampaignState(budget, stop or threading.Event(), progress or Silent())
    if cells:
        _enter_plan(layout, name, announced or joined, state.progress)
    cells = _cells_that_fit(layout, cells, [share], "this machine can lend {}", state.progress)
    durations = Expected(layout, joined, state.progress)
    _tidy(layout, engine, state.progress)
    state.tally.expect(durations.all_before(cells))
    with telling(layout, state.tally, plan=name, on=LOCAL, enough=state.enough, stop=state.stop):
        for group in _groups(cells, one_method_at_a_time=choices.remove_images):
            _run_group(layout, group, engine, choices, state, durations)
            if state.is_ending():
                break
    if state.is_broken:
        raise EngineError(
            "runs of several methods failed in a row",
            where="this machine",
            todo="harness doctor examines it; finished runs are kept, and the same command resumes",
        )
    return state.is_ending()


def _run_group(
    layout: Layout,
    group: Cells,
    engine: Engine,
    choices: Choices,
    state: CampaignState,
    durations: Expected,
) -> None:
    """Cells whose images are there at the same time."""
    supply = Supply(choices.mirrors, progress=few_notes(state.progress), announce=state.progress.note)
    images = _images(layout, engine, group, state, supply)
    take_turns(
        [
            Task(
                layout,
                cell.planned,
                images[image_of(cell.job)],
                choices.mirrors,
                choices.upstream,
                again=cell.verdict in choices.again,
                expected_s=durations.before(cell),
            )
            for cell in starting_order(group, durations.seconds, state.budget.total.cpus)
            if cell.planned is not None and image_of(cell.job) in images
        ],
        engine,
        state,
    )
    if choices.remove_images:
        for job in {image_of(cell.job): cell.job for cell in group.of_each_kind()}.values():
            remove_images(engine, layout, job.method, job.accelerator)
        if may_empty_build_cache(layout, engine):
            # else the builder keeps every layer, and no disk is free
            empty_build_cache(engine)


def run_cells_on(
    cluster: Cluster,
    layout: Layout,
    joined: Sequence[Cell],
    *,
    choices: Choices | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    name: str = "",
    announced: Sequence[Cell] = (),
    runtime: str | None = None,
) -> bool:
    """The same on the workers of a cluster, each with an engine and images of its own."""
    choices = choices or Choices()
    layout.local.mkdir(parents=True, exist_ok=True)
    cells = left_to_run(joined, choices.again)
    state = CampaignState(Budget(this_machine()), stop or threading.Event(), progress or Silent())
    with wanted_file(layout) as wanted:
        shares = [worker.share for worker in check_workers(cluster, wanted)]
        if not cells:
            return False
        _enter_plan(layout, name, announced or joined, state.progress)
        cells = _cells_that_fit(layout, cells, shares, "the largest worker lends {}", state.progress)
        durations = Expected(layout, joined, state.progress)
        errands = (
            Errand(
                layout,
                cell.planned,
                wanted,
                own_meaning(),
                choices.mirrors,
                choices.upstream,
                runtime,
                again=cell.verdict in choices.again,
                expected_s=durations.before(cell),
            )
            for cell in starting_order(cells, durations.seconds, sum(share.cpus for share in shares))
            if cell.planned is not None
        )
        state.tally.expect(durations.all_before(cells))
        with telling(layout, state.tally, plan=name, on=cluster.address, enough=state.enough, stop=state.stop):
            hand_out(cluster, errands, len(cells), state, wanted)
    return state.is_ending()


def _enter_plan(layout: Layout, name: str, cells: Sequence[Cell], progress: Progress) -> None:
    """Write down what is to be run before anything is."""
    planned = (
        LoggedCell(cell.key or "", f"{cell.job.benchmark}: {cell.job.label}", "" if cell.key else cell.verdict)
        for cell in cells
    )
    with Store(layout.runs).open_log() as (log, notes):
        enter_plan(log, name, planned)
    for note in notes:
        progress.note(note)


def _cells_that_fit(
    layout: Layout, cells: Cells, lent: Sequence[Share], otherwise: str, progress: Progress
) -> Cells:
    """The cells whose resources fit what some machine lends; the reason for each of the others is noted."""
    fits = {}
    largest = max(lent, key=lambda share: (share.cpus, share.memory))
    for name, job in {variant_of(cell.job): cell.job for cell in cells.of_each_kind()}.items():
        share = Share.of(card_of(layout, job).resources)
        fits[name] = any(one.fits(share) for one in lent)
        if fits[name]:
            Obstacles(layout.runs).clear("variant", name)
        else:
            reason = f"{job.method}/{job.variant} needs {share}; {otherwise.format(largest)}"
            Obstacles(layout.runs).note("variant", name, reason)
            progress.note(reason)
    return cells.where(lambda cell: fits[variant_of(cell.job)])


def _tidy(layout: Layout, engine: Engine, progress: Progress) -> None:
    """Remove the containers and temporary folders of harnesses that were killed."""
    for orphan in remove_orphans(engine):
        progress.note(f"removed a container that a killed harness had left: {orphan.run}")
    for folder in abandoned_folders(layout.local / "work"):
        remove_stubborn(folder)


def mark_unstable(store: Store, record: Record, reason: str) -> Record:
    """The record of a run whose repetition differed, now stored as `unstable` with the reason."""
    unstable = record.model_copy(update={"verdict": Verdict.UNSTABLE, "reason": reason})
    store.amend(unstable)
    return unstable


def _groups(cells: Cells, *, one_method_at_a_time: bool) -> list[Cells]:
    if not one_method_at_a_time:
        return [cells] if cells else []
    methods = dict.fromkeys(cell.job.method for cell in cells.of_each_kind())
    return [cells.where(partial(_is_of, method)) for method in methods]


def _is_of(method: str, cell: Cell) -> bool:
    return cell.job.method == method


def _images(
    layout: Layout, engine: Engine, cells: Cells, state: CampaignState, supply: Supply
) -> dict[str, BuiltImage]:
    jobs = {image_of(cell.job): cell.job for cell in cells.of_each_kind()}
    state.progress.begin("images", len(jobs))
    needed, images = {job.method for job in jobs.values()}, dict[str, BuiltImage]()
    failures: tuple[type[Exception], ...] = (ImageError, DataError, *engine_faults())
    for name, job in jobs.items():
        if state.is_ending():
            break
        try:
            take = partial(take_image, engine, layout, job.method, job.accelerator, supply=supply, in_use=needed)
            image = _although_lost(engine, take, state)
            if job.accelerator == "cuda":
                for gpu in state.budget.gpus:
                    confirm_gpu(engine, layout, image, limits_of(card_of(layout, job), (gpu,)))
            images[name] = image
        except failures as error:
            # the other methods are run all the same; the cells of this one show the reason
            reason = explain(error)
            Obstacles(layout.runs).note("method", name, reason)
            state.progress.step(f"{Verdict.INFRASTRUCTURE}: no image of {name}: {reason}")
            continue
        Obstacles(layout.runs).clear("method", name)
        state.progress.step(f"{image.name}: {image.size_bytes / 1e6:.0f} MB")
    return images


def _although_lost(engine: Engine, take: Callable[[], BuiltImage], state: CampaignState) -> BuiltImage:
    """An image; where its engine was lost meanwhile, it is waited for, and asked once more."""
    try:
        return take()
    except engine_faults() as error:
        state.progress.note(f"the engine failed, and is asked once more: {explain(error)}")
        engine.renew()
        return take()
