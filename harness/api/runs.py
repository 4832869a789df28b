"""Runs: what is left of a plan, and the scores of one stored run."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.api.repository import Names, Repository, opened, several
from harness.base.errors import DataError, UsageError, refuse_unknown
from harness.base.interrupt import stop_on_interrupt
from harness.base.plurals import counted
from harness.base.progress import ProgressChoice, progress_for
from harness.base.vocabulary import Verdict
from harness.engine import find_engine
from harness.execution.bulletins import Bulletin, Wish, ask_to_end, bulletins
from harness.execution.campaign import Choices, left_to_run, run_cells, run_cells_on
from harness.execution.cluster import LOCAL, open_cluster
from harness.execution.queues import logs_of
from harness.handles.lookup import Handle, find_handle, key_text
from harness.planning.cells import Cell, Cells, wanted_again
from harness.planning.commands import command_of_stored
from harness.planning.jobs import Job, PlannedJob
from harness.planning.needs import check_disk
from harness.planning.plan import Plan
from harness.results.durations import reference_seconds
from harness.results.records import record_digest
from harness.results.remainder import what_is_told
from harness.results.scoring import Scores, score_all, score_run
from harness.results.store import Store, join
from harness.status import Table, build_table


@dataclass(frozen=True)
class Campaign:
    """What came of running a plan: its table, how many cells were left before, and whether a person stopped it.

    `obstacles` are what some of its runs could not be scored for, such as a data file that is not here. Of
    `not_again` runs that were wanted again the earlier results stand, as the new ones came to no verdict.
    """

    table: Table
    left: int
    stopped: bool
    obstacles: tuple[DataError, ...] = ()
    not_again: int = 0

    @property
    def is_good(self) -> bool:
        """Whether every cell is ok or not-applicable, none lacks its scores, and what was wanted again came."""
        return self.table.is_good and not self.obstacles and not self.not_again


def run(
    plan: Plan,
    *,
    progress: ProgressChoice = "auto",
    workers: int | None = None,
    again: Names = (),
    remove_images: bool = False,
    upstream: Path | str | None = None,
    stop: threading.Event | None = None,
    on: str = LOCAL,
    verify: bool = False,
    repository: Repository | None = None,
) -> Campaign:
    """The table of a plan after all that was left of it was run and scored. Called again, it resumes.

    `workers` is the number of processors to lend, `again` names verdicts to run again. Ctrl-C, or setting `stop`,
    ends it cleanly. A plan made with `upstream` needs the same folder here. `on` is the address of a Dask
    scheduler whose workers run it, "tcp://HOST:PORT", "dask" for one in this process, or a TOML
    file that says what a queue such as Slurm is to be asked for. What is left of a large plan is known from the
    log, of which a sample is compared with the records, or with `verify` from all records; the table at the end is
    of all records, and what the log called finished and is not, is run then.
    """
    here = opened(repository)
    verdicts = several(again)
    refuse_unknown("verdict", verdicts, [*Verdict], where="--again")
    choices = Choices(
        mirrors=here.mirrors,
        workers=workers,
        again=frozenset(map(Verdict, verdicts)),
        remove_images=remove_images,
        upstream=Path(upstream) if upstream is not None else None,
    )
    if waiting := next(iter(Cells.of(plan.cells).waiting()), None):
        raise UsageError(
            "this plan was made without its splits", where=waiting.job.label, todo="plan it with make_splits=True"
        )
    told = what_is_told(plan, here.store, verify=verify)
    left, stopped = len(left_to_run(told.cells, choices.again)), False
    earlier = _records_wanted_again(told.cells, choices.again, here.store)
    if left:
        stopped = _run(here, plan, told.cells, choices, progress, stop, on, told.notes)
    joined = told.cells if told.has_records and not left else join(plan, here.store, records=True)
    if not stopped and (damaged := _not_as_told(told.cells, joined)):
        notes = [f"{counted(damaged, 'run')} that the log calls finished can't be believed, and are run again"]
        left += damaged
        stopped = _run(here, plan, joined, replace(choices, again=frozenset()), progress, stop, on, notes)
        joined = join(plan, here.store, records=True)
    not_again = sum(1 for key, digest in earlier.items() if _digest(here.store, key) == digest)
    scored = score_all(here.layout, here.store, joined, here.mirrors)
    table = build_table(here.layout, here.store, plan, scored.cells)
    return Campaign(table, left, stopped, scored.obstacles, not_again)


def _records_wanted_again(cells: Cells, verdicts: Collection[Verdict], store: Store) -> dict[str, str]:
    """The digests of the records that are to be replaced, by key."""
    final = {verdict for verdict in verdicts if verdict.is_final}
    wanted = cells.chosen(cells.having(final.__contains__))
    return {cell.key: _digest(store, cell.key) for cell in wanted if cell.key}


def _digest(store: Store, key: str) -> str:
    return record_digest(store.standing(key).content)


def _not_as_told(told: Cells, joined: Sequence[Cell]) -> int:
    """How many cells were believed to be finished whose records say otherwise."""
    believed = told.having(lambda verdict: verdict.is_final)
    return sum(1 for was, now in zip(believed, joined, strict=True) if was and not now.verdict.is_final)


def _run(
    here: Repository,
    plan: Plan,
    joined: Sequence[Cell],
    choices: Choices,
    progress: ProgressChoice,
    stop: threading.Event | None,
    on: str,
    notes: Sequence[str],
) -> bool:
    """Run what is left; whether a person stopped it."""
    if on != LOCAL:
        return _run_on(here, plan, joined, choices, progress, stop, on, notes)
    seconds = reference_seconds(here.layout, (cell.job for cell in joined))
    wanted = wanted_again(joined, choices.again)
    needs = check_disk(here.layout, plan.name, wanted, seconds, one_method_at_a_time=choices.remove_images)
    with (
        progress_for(progress) as shown,
        _stopping(stop) as stopping,
        find_engine(here.layout, install=here.install, runtime=here.runtime) as engine,
    ):
        for note in notes:
            shown.note(note)
        shown.note(f"engine: {engine.name} {engine.facts.version}")
        shown.note(f"{needs.left} of {counted(needs.planned, 'cell')} left; {needs.disk()}")
        shown.note(needs.time())
        whole = plan.whole
        return run_cells(
            here.layout,
            joined,
            engine,
            choices=choices,
            progress=shown,
            stop=stopping,
            name=whole.name,
            announced=whole.cells,
        )


def _run_on(
    here: Repository,
    plan: Plan,
    joined: Sequence[Cell],
    choices: Choices,
    progress: ProgressChoice,
    stop: threading.Event | None,
    on: str,
    notes: Sequence[str],
) -> bool:
    """The same on a cluster."""
    if choices.remove_images:
        raise UsageError("workers keep their images", where=f"--on {on}", todo="leave --remove-images out")
    with (
        progress_for(progress) as shown,
        _stopping(stop) as stopping,
        open_cluster(on, workers=choices.workers, logs=logs_of(here.layout), stop=stopping) as cluster,
    ):
        for note in notes:
            shown.note(note)
        shown.note(f"{len(left_to_run(joined, choices.again))} of {counted(len(joined), 'cell')} left")
        return run_cells_on(
            cluster,
            here.layout,
            joined,
            choices=choices,
            progress=shown,
            stop=stopping,
            name=plan.whole.name,
            announced=plan.whole.cells,
            runtime=here.runtime,
        )


@contextmanager
def _stopping(stop: threading.Event | None) -> Iterator[threading.Event]:
    """The caller's event; else Ctrl-C, which only the main thread can be told of."""
    if stop is not None or threading.current_thread() is not threading.main_thread():
        yield stop or threading.Event()
        return
    with stop_on_interrupt() as asked:
        yield asked


def campaigns(*, repository: Repository | None = None) -> list[Bulletin]:
    """What runs now in this folder of results, of any process on any machine that sees it."""
    return [*bulletins(opened(repository).layout).values()]


def stop(name: str = "", *, now: bool = False, repository: Repository | None = None) -> Bulletin:
    """Ask a campaign to end, by the name that `campaigns` tells; the only one where none is named.

    Nothing more begins; what runs is finished, or stopped with `now`. Returns what it told last.
    """
    return ask_to_end(opened(repository).layout, name, Wish.STOP if now else Wish.DRAIN)


@dataclass(frozen=True)
class ScoredRun:
    """A stored run and its scores."""

    job: Job
    scores: Scores


def scores(key: str, *, again: bool = False, repository: Repository | None = None) -> ScoredRun:
    """The scores of the run whose key begins so; computed anew where none are fresh, or `again`.

    Of a reference result the committed ones: its predictions are not kept.
    """
    here = opened(repository)
    store, layout = here.store, here.layout
    key = key_text(store, key)
    if not store.path(key).is_dir():
        handle = find_handle(layout, store, key)
        if handle.folder is None:
            return _committed_scores(here, handle, again=again)
        key = handle.key
    standing = store.standing(key)
    if standing.verdict is not Verdict.OK:
        raise UsageError(
            f"run {key[:16]} has nothing to score: {standing.verdict}",
            where=standing.reason,
            todo=f"only a run that ended ok is scored; harness show {key[:12]} tells more of this one",
        )
    planned = PlannedJob.model_validate(standing.content["planned"])
    return ScoredRun(planned.job, score_run(layout, store, planned, here.mirrors, again=again))


def _committed_scores(here: Repository, handle: Handle, *, again: bool) -> ScoredRun:
    committed = handle.scores(here.layout)
    if again or committed is None:
        raise UsageError(
            "predictions of reference results are not kept, so nothing can be scored"
            if handle.verdict is Verdict.OK
            else f"run {handle.key[:16]} has nothing to score: {handle.verdict}",
            where=handle.where,
            todo=f"run it here: {command_of_stored(here.layout, handle.planned.job)}",
        )
    return ScoredRun(handle.planned.job, committed)
