"""Errands: runs that another process is asked for, perhaps on another machine that sees the same folders.

An errand holds no engine and no image, because each machine has its own. Whoever carries it out looks at the store
first and stores what came of it. So an errand may be asked for twice: the second time nothing is run.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

import harness
from harness.base.errors import DataError, EngineError
from harness.base.heartbeat import duration
from harness.base.layout import Layout
from harness.base.network_files import clock_beside, is_there
from harness.base.ownership import is_owned, owner_of
from harness.base.vocabulary import Verdict
from harness.engine import Engine, find_engine
from harness.execution.gpus import confirm_gpu, find_gpus, usable_gpus
from harness.execution.tasks import Task, attempt, limits_of
from harness.execution.turns import fault_in_words, note_fault
from harness.images import Supply, take_image
from harness.meaning.folders import meaning_of_folder
from harness.planning.budget import Budget, Share
from harness.planning.jobs import PlannedJob
from harness.planning.obstacles import Obstacles, image_of
from harness.results.records import Record
from harness.results.store import Store

_LOOK_S = 0.5
# An audit lets the clocks of two machines differ by so much.
_CLOCKS_S = 600.0


class Course(StrEnum):
    """What became of an errand."""

    RUN = "run"
    # another one had stored it before
    FOUND = "found"
    # another one was first to store it, while this one ran: thrown away
    DUPLICATE = "duplicate"
    # another process is running it
    ELSEWHERE = "elsewhere"
    # a person stopped it before it began
    STOPPED = "stopped"
    # the process it was asked of can carry out nothing for who asks
    REFUSED = "refused"
    FAULT = "fault"


@dataclass(frozen=True)
class Errand:
    """A run that is asked for. It may be begun while the file `wanted` is there, by a harness of this meaning."""

    layout: Layout
    planned: PlannedJob
    wanted: Path
    harness: str
    mirrors: tuple[Path, ...] = ()
    upstream: Path | None = None
    runtime: str | None = None
    again: bool = False
    expected_s: float | None = None


@dataclass(frozen=True)
class Return:
    """What comes back of an errand: few words. All else is in the store."""

    course: Course
    verdict: Verdict = Verdict.INFRASTRUCTURE
    reason: str = ""
    seconds: float = 0.0
    # the fault is of data that are missing, not of the machine
    is_of_data: bool = False
    # how often it was begun before by a process that was lost
    lost: int = 0
    # the machine that it was on, and the worker there
    host: str = ""
    worker: str = ""

    @property
    def is_of_machine(self) -> bool:
        """Whether the machine failed it, or would do nothing for us: another machine may."""
        if self.course in (Course.STOPPED, Course.ELSEWHERE) or self.is_of_data:
            return False
        return self.verdict is Verdict.INFRASTRUCTURE


@cache
def own_meaning() -> str:
    """What the harness of this process means."""
    return meaning_of_folder(Path(harness.__file__).parent)


def refusal(wanted: Path, meaning: str) -> str:
    """Why this process can carry out nothing for who asks; empty where it can."""
    if own_meaning() != meaning:
        return f"another harness than the client's runs there: {Path(harness.__file__).parent}"
    if not wanted.parent.is_dir():
        return f"the folder of results is not seen there: {wanted.parent}"
    # the client holds this lock as long as it lives: taken a second time, it keeps nobody from anything
    if not is_owned(Path(owner_of(wanted.parent))):
        return f"locks of the folder of results are not seen there: {wanted.parent}"
    try:
        ahead = clock_ahead(wanted)
    except OSError as error:
        return f"nothing can be written into the folder of results there: {error.strerror}: {wanted.parent}"
    if abs(ahead) > _CLOCKS_S:
        where = "ahead of" if ahead > 0 else "behind"
        return f"its clock is {duration(abs(ahead))} {where} the client's: its records would be of another time"
    return ""


@cache
def clock_ahead(wanted: Path) -> float:
    """By how much this machine's clock is ahead of the client's: both are known beside that which dates files."""
    ours = clock_beside(wanted.parent)
    try:
        return ours - float(wanted.read_text(encoding="ascii"))
    except FileNotFoundError:
        # nobody wants anything any more
        return 0.0


def carry_out(errand: Errand) -> Return:
    """Run what is asked for, unless the store has it, and store it."""
    return replace(_carry_out(errand), host=socket.gethostname())


def _carry_out(errand: Errand) -> Return:
    if reason := refusal(errand.wanted, errand.harness):
        return Return(Course.REFUSED, reason=reason)
    if not is_there(errand.wanted) or is_there(enough_file(errand.wanted)):
        return Return(Course.STOPPED)
    store, key = Store(errand.layout.runs), errand.planned.key
    try:
        with store.claim(key) as mine:
            if not mine:
                return Return(Course.ELSEWHERE)
            if not errand.again and store.standing(key).verdict.is_final:
                # begun here before: all but the one that stored it were lost
                return _told(store.record(key), Course.FOUND, max(0, len(hosts_of(errand)) - 1))
            begun = beginnings(errand)
            with begun.open("a", encoding="utf-8") as file:
                file.write(f"{socket.gethostname()}\n")
            with _gone(errand.wanted) as stop:
                record, is_ours = attempt_here(errand, stop)
            return _told(record, Course.RUN if is_ours else Course.DUPLICATE, len(hosts_of(errand)) - 1)
    # Broad on purpose, as where runs take turns: what fails here is this run's alone.
    except Exception as error:  # noqa: BLE001
        note_fault(errand.layout, errand.planned, error)
        reason = error.what if isinstance(error, DataError) else fault_in_words(error)
        return Return(Course.FAULT, reason=reason, is_of_data=isinstance(error, DataError))


def beginnings(errand: Errand) -> Path:
    """A file with a line for each time that an errand was begun: the machine that it was on."""
    return errand.wanted.with_name(f"{errand.wanted.name}-{errand.planned.key}")


def hosts_of(errand: Errand) -> list[str]:
    """The machines on which an errand was begun, the latest last."""
    try:
        return beginnings(errand).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def enough_file(wanted: Path) -> Path:
    """The file that tells, beside `wanted`, that nothing more is to begin; what runs is wanted still."""
    return wanted.with_name(f"{wanted.name}-enough")


def attempt_here(errand: Errand, stop: threading.Event) -> tuple[Record, bool]:
    """Run it in a container of this machine's engine, its image handed over, built or verified here."""
    job, supply = errand.planned.job, Supply(errand.mirrors)
    method = job.method
    with _guard:
        engine = _engine(errand.layout, errand.runtime)
        image = take_image(engine, errand.layout, method, job.accelerator, supply=supply, in_use=+_in_use)
        _in_use[method] += 1
    # whatever machine had none: here is one
    Obstacles(errand.layout.runs).clear("method", image_of(job))
    task = Task(errand.layout, errand.planned, image, errand.mirrors, errand.upstream, again=errand.again)
    try:
        if job.accelerator != "cuda":
            return attempt(task, engine, stop)
        with _gpus().lend(Share(0, 0, task.card.resources.gpus), stop.is_set) as lent:
            if not lent:
                raise EngineError("it was stopped while it waited for a GPU", todo="the same command resumes")
            task = replace(task, gpus=lent.gpus)
            _confirm_gpus(task, engine)
            return attempt(task, engine, stop)
    finally:
        with _guard:
            _in_use[method] -= 1


# one at a time looks for an engine, builds, or counts the runs of each method that are at work here
_guard = threading.Lock()
_in_use: Counter[str] = Counter()


@cache
def _gpus() -> Budget:
    """The GPUs of this process, one run each."""
    gpus = [gpu.number for gpu in find_gpus()]
    return Budget(Share(0, 0, len(gpus)), gpus=gpus)


def _confirm_gpus(task: Task, engine: Engine) -> None:
    """Raise unless the image computes on the GPUs that were lent, which is tried once for each."""
    able = {gpu.number for gpu in usable_gpus(task.layout, engine.facts, [task.planned.job.method])}
    for gpu in task.gpus:
        if gpu not in able:
            todo = "lend only such as can ($CUDA_VISIBLE_DEVICES), or run on the CPU (--accelerator cpu)"
            raise EngineError(f"the CUDA image of {task.image.name} can't be run on GPU {gpu}", todo=todo)
        if (gpu, task.image.image_id) not in _confirmed:
            confirm_gpu(engine, task.layout, task.image, limits_of(task.card, (gpu,)))
            _confirmed.add((gpu, task.image.image_id))


_confirmed: set[tuple[str, str]] = set()


@cache
def _engine(layout: Layout, runtime: str | None) -> Engine:
    """The engine of this process, found once: one that we serve ends with the process, by its lease."""
    return find_engine(layout, runtime=runtime)


@contextmanager
def _gone(wanted: Path) -> Iterator[threading.Event]:
    """An event that is set when the file is gone."""
    stop, ended = threading.Event(), threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_S):
            if not is_there(wanted):
                stop.set()
                return

    watcher = threading.Thread(target=look, name="wanted", daemon=True)
    watcher.start()
    try:
        yield stop
    finally:
        ended.set()
        watcher.join()


def _told(record: Record, course: Course, lost: int) -> Return:
    seconds = float(record.resources.get("wall_s", 0.0))
    return Return(course, record.verdict, record.reason, seconds, lost=lost)
