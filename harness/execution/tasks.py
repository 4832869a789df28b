"""One run from its plan to its record: prepare the inputs, run the container, check, store. Picklable.

A `Task` depends on nothing of the process that planned it but the store, the image and the data by checksum; so
another process, or another machine on the same file system, can perform it.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness import __version__, benchmarks
from harness.base.errors import InvalidPredictions, UsageError
from harness.base.files import sha256_of
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.benchmarks.measures import Question
from harness.benchmarks.method_report import METHOD
from harness.benchmarks.order import PUBLISHED, Arrangement, new_order
from harness.engine import Engine, find_engine
from harness.execution.inputs import job_folder, make_inputs, planned_weights
from harness.execution.maker import maker_of
from harness.execution.runs import Limits, Mount, Outcome, RunRequest, answer_files, execute
from harness.execution.runs.workspace import make_readable, temporary_folders
from harness.images import BuiltImage, folder_tree
from harness.methods.card import MethodCard
from harness.planning.jobs import Job, PlannedJob, card_of
from harness.planning.obstacles import Obstacles
from harness.planning.request import replaces_code
from harness.results.records import JOB_FILE, LOG_FILE, Record
from harness.results.store import Store

_UPSTREAM = "/opt/upstream"
_LARGEST_REPORT, _KEPT_OF_A_FAILURE = 64 << 10, 1 << 20
_SOURCES = {"python": ".py", "octave": ".m", "r": ".r", "java": ".java"}


@dataclass(frozen=True)
class Task:
    """One run, with everything it needs but the engine."""

    layout: Layout
    planned: PlannedJob
    image: BuiltImage
    mirrors: tuple[Path, ...] = ()
    upstream: Path | None = None
    # Whether a person wants this run although a final verdict is stored.
    again: bool = False
    # The order in which it finds its items (harness.benchmarks.order): None for what its card says.
    order: str | None = None
    # The devices that were lent to it: none for the first ones that there are.
    gpus: tuple[str, ...] = ()
    # How long such runs took before, if that is known.
    expected_s: float | None = None

    @property
    def card(self) -> MethodCard:
        """The card of the method, with the limits of this run."""
        return card_of(self.layout, self.planned.job)


def perform(task: Task, engine: Engine, stop: threading.Event | None = None) -> Record:
    """The record of a task, run in a container: what the store has of it then, as `attempt` says."""
    record, _ = attempt(task, engine, stop)
    return record


def attempt(task: Task, engine: Engine, stop: threading.Event | None = None) -> tuple[Record, bool]:
    """The same, and whether it is the record of this run: another one of the same job may have been first.

    A run that was wanted again and came to no final verdict replaces nothing; its own record tells of it.
    """
    with run_in_container(task, engine, stop) as run:
        files, descriptions = _files(run)
        record = _record(task, run, descriptions)
        stored = Store(task.layout.runs).put(record, files, again=task.again)
    Obstacles(task.layout.runs).clear("run", task.planned.key)
    if task.again and stored.verdict.is_final and not record.verdict.is_final:
        return record, True
    return stored, record == stored.model_copy(update={"files": {}})


def perform_anywhere(task: Task) -> Record:
    """The same with an engine that this process finds itself: for the executors of a cluster."""
    with find_engine(task.layout) as engine:
        return perform(task, engine)


@dataclass(frozen=True)
class Run:
    """The outcome of a task, the folder of its inputs, and the order that these are in."""

    outcome: Outcome
    inputs: Path
    order: str


@contextmanager
def run_in_container(task: Task, engine: Engine, stop: threading.Event | None = None) -> Iterator[Run]:
    """Run a task beside the store; the folders of its outcome and its inputs are gone when the block ends."""
    work = task.layout.local / "work"
    with temporary_folders(work, "in", "upstream") as (inputs, code):
        order = task.order if task.order is not None else order_of(task.card)
        arrangement = arrangement_of(task, order)
        request = prepare(task, arrangement, work, inputs=inputs, code=code)
        with activity(f"run {task.planned.job.label}", task.expected_s):
            outcome = execute(engine, request, check=AnswerCheck(task.planned.job, arrangement), stop=stop)
        try:
            yield Run(outcome, inputs, order)
        finally:
            outcome.discard()


def prepare(task: Task, arrangement: Arrangement, work: Path, *, inputs: Path, code: Path) -> RunRequest:
    """Fill `inputs` with what the container finds at /in, and `code` with a checkout's; returns what to run."""
    weights = planned_weights(task.layout, task.planned)
    job_folder(arrangement, inputs, task.planned, task.card, weights=weights)
    return RunRequest(
        image=task.image.name,
        image_id=task.image.image_id,
        in_folder=inputs,
        work=work,
        limits=limits_of(task.card, task.gpus),
        seed=task.planned.job.fit_seed,
        labels={"permafrost.key": task.planned.key},
        **answer_files(task.planned.job.benchmark),
        **_upstream_mount(task, code),
    )


def limits_of(card: MethodCard, gpus: tuple[str, ...] = ()) -> Limits:
    """The limits a card declares; `gpus` are the devices that were lent, in the place of the first ones."""
    resources = card.resources
    return Limits(
        seconds=resources.seconds,
        memory_bytes=resources.memory_bytes,
        processes=resources.processes,
        output_bytes=resources.output_bytes,
        cpus=resources.cpus,
        gpus=gpus or tuple(str(number) for number in range(resources.gpus)),
    )


def recorded_limits(card: MethodCard) -> dict[str, int]:
    """The limits that a card declares, as a record holds them."""
    limits = limits_of(card)
    return {
        "seconds": int(limits.seconds),
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes,
        "output_bytes": limits.output_bytes,
        "cpus": int(limits.cpus),
        "gpus": len(limits.gpus),
    }


def _upstream_mount(task: Task, code: Path) -> dict[str, Any]:
    """The mount and the search paths that put a person's own checkout ahead of our implementation.

    Only its source files are mounted, copied to `code`: the authors' repositories hold their data beside them,
    test labels and all.
    """
    if not task.planned.job.upstream:
        return {}
    if task.upstream is None or folder_tree(task.upstream) != task.planned.job.upstream:
        raise UsageError(
            "the upstream checkout is not the one that was planned",
            where=str(task.upstream or "not given"),
            todo="give the same folder, unchanged, with --upstream",
        )
    for source in sorted(task.upstream.rglob("*")):
        place = source.relative_to(task.upstream)
        is_code = source.suffix.lower() == _SOURCES[task.card.language] and ".git" not in place.parts
        if is_code and source.is_file() and not source.is_symlink():
            target = code / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    if not replaces_code(task.layout, code, task.card.name):
        raise UsageError(
            f"nothing of the checkout replaces a file of '{task.card.name}', so that our own code would run",
            where=f"--upstream {task.upstream}",
            todo="give the folder that itself holds such a file; links are not taken along",
        )
    make_readable(code)
    return {
        "mounts": (Mount(code, _UPSTREAM),),
        "environment": {
            "PERMAFROST_UPSTREAM": _UPSTREAM,
            # Python puts the program's own folder first unless told otherwise.
            "PYTHONSAFEPATH": "1",
            "PYTHONPATH": f"{_UPSTREAM}:/opt/method:/opt/sdk",
        },
    }


class AnswerCheck:
    """Checks that predictions keep the benchmark's promise, and puts them into the published order."""

    def __init__(self, job: Job, arrangement: Arrangement) -> None:
        self._arrangement = arrangement
        self._question = benchmarks.get(job.benchmark).asked_in(arrangement.inputs, job.options)

    def __call__(self, out: Path) -> None:
        """Raise `InvalidPredictions` unless the files of `out` are an answer, and rewrite them in that order."""
        read_answer(self._question, out)
        self._arrangement.restore_files(out)


def read_answer(question: Question[object], out: Path) -> object:
    """The answer to a question, or `InvalidPredictions`."""
    try:
        return question.read(out)
    except OverflowError as error:
        # JSON writes numbers that are larger than any float; that is the method's fault, and not the harness's
        raise InvalidPredictions(f"a number is larger than any that can be meant: {error}") from None


def order_of(card: MethodCard) -> str:
    """The order of a new run: a secret of its own, unless the method's answer depends on the published one."""
    return PUBLISHED if card.published_order else new_order()


_locks: dict[str, threading.Lock] = {}
_guard = threading.Lock()


def arrangement_of(task: Task, order: str) -> Arrangement:
    """The inputs of a task. Runs on one dataset wait for each other here, so that it is converted once."""
    planned = task.planned
    with _guard:
        lock = _locks.setdefault(planned.dataset_digest + planned.split_digest, threading.Lock())
    with lock:
        arrangement = make_inputs(task.layout, planned, task.card.inputs, task.mirrors, order=order)
    Obstacles(task.layout.runs).clear("dataset", planned.job.dataset)
    return arrangement


def _files(run: Run) -> tuple[dict[str, Path], dict[str, Any]]:
    """The files that are kept of a run, and the size and sha256 of those that are not, by name.

    Of a run that failed, people read the job, the log and a small report; its answer is no result.
    """
    outcome = run.outcome
    files, descriptions = {JOB_FILE: run.inputs / JOB_FILE, LOG_FILE: outcome.log}, {}
    room = None if outcome.ok else _KEPT_OF_A_FAILURE
    for path in sorted(outcome.out_folder.rglob("*"), key=lambda path: (path.name != METHOD, path)):
        if not path.is_file():
            continue
        name, size = path.relative_to(outcome.out_folder).as_posix(), path.stat().st_size
        if room is not None and size > (min(room, _LARGEST_REPORT) if name == METHOD else room):
            descriptions[name] = {"bytes": size, "sha256": sha256_of(path)}
            continue
        files[name] = path
        room = None if room is None else room - size
    return files, descriptions


def _finished(outcome: Outcome) -> datetime:
    """When a run had ended: not before it began and took what it did, also where somebody set the clock back."""
    return max(datetime.now(UTC), datetime.fromisoformat(outcome.started) + timedelta(seconds=outcome.wall_s))


def _record(task: Task, run: Run, descriptions: dict[str, Any]) -> Record:
    outcome = run.outcome
    observations = outcome.as_json() | ({"not_kept": descriptions} if descriptions else {})
    observations = task.layout.without_folders(observations)
    engine = observations.pop("engine")
    for name in ("verdict", "reason", "started", "image_id", "attempts"):
        del observations[name]
    return Record(
        key=task.planned.key,
        planned=task.planned,
        verdict=outcome.verdict,
        reason=task.layout.without_folders(outcome.reason),
        image={
            "name": task.image.name,
            "id": task.image.image_id,
            "environment_tree": task.image.environment_tree,
            "code_tree": task.image.code_tree,
        },
        limits=recorded_limits(task.card),
        resources=observations,
        engine=engine,
        files={},
        attempts=len(outcome.attempts),
        started=outcome.started,
        finished=_finished(outcome).strftime("%Y-%m-%dT%H:%M:%SZ"),
        harness_version=__version__,
        order=run.order,
        made_by=maker_of(task.layout, task.planned.job.benchmark, outcome.engine),
    )
