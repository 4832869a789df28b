"""A Dask cluster in the place of this machine: runs are handed to its workers, and the store decides what is done.

The scheduler gets few runs at a time, so that it never holds the plan. It sees to it that each worker has the CPUs
and the memory for what it runs. A run whose worker was lost is handed out again, a bounded number of times. What
was run twice, the store has once.
"""

from __future__ import annotations

import math
import queue
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.base.vocabulary import Verdict
from harness.execution.errands import (
    Course,
    Errand,
    Return,
    carry_out,
    enough_file,
    hosts_of,
    own_meaning,
    refusal,
)
from harness.execution.gpus import find_gpus
from harness.execution.queues import SUFFIX, open_queue
from harness.execution.turns import CampaignState, count_failures
from harness.planning.budget import Share, this_machine
from harness.planning.jobs import card_of
from harness.planning.obstacles import Obstacles

if TYPE_CHECKING:
    from distributed import Client

LOCAL, DASK = "local", "dask"
CPUS, MEMORY, GPUS = "cpus", "GiB", "GPU"
# How often a run is handed out whose worker is lost each time.
_TIMES = 4
# Runs that the scheduler holds for each that can be running.
_AHEAD = 2
_LOOK_S, _CONNECT_S, _WORKERLESS_S = 0.5, 20.0, 60.0


@dataclass(frozen=True)
class Worker:
    """A worker of the cluster, by its address, and what it says that it can lend."""

    address: str
    threads: int
    share: Share


@dataclass
class Cluster:
    """A cluster that answers."""

    client: Client
    address: str
    # for how long there may be no worker: a queue may take its time to start another
    workerless_s: float = _WORKERLESS_S

    def workers(self) -> list[Worker]:
        """The workers of this moment."""
        information = self.client.scheduler_info(n_workers=-1)["workers"]
        return [
            Worker(address, int(worker["nthreads"]), _share_of(worker["resources"]))
            for address, worker in information.items()
        ]

    def ask_all(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """What a function gives on each worker, which does nothing else meanwhile: it must answer at once."""
        return dict(self.client.run(function, *arguments))

    def ask_each(self, function: Callable[..., Any], *arguments: Any) -> Iterator[tuple[str, Any]]:
        """The same of one that takes its time, each worker's answer as it comes."""
        from distributed import as_completed

        asked = {
            self.client.submit(function, *arguments, workers=[one.address], pure=False): one.address
            for one in self.workers()
        }
        for future in as_completed(asked, loop=self.client.loop):
            yield asked[future], future.result()


@contextmanager
def open_cluster(
    name: str, *, logs: Path, workers: int | None = None, stop: threading.Event | None = None
) -> Iterator[Cluster]:
    """The running scheduler with this address; for `dask` a small cluster in this process, of `workers` CPUs.

    For a TOML file the workers that a queue is asked for, which write what they print below `logs`. Until one is
    there, `stop` ends the waiting.
    """
    try:
        import distributed
    except ImportError:
        raise EngineError(
            "Dask is not installed here",
            where=f"--on {name}",
            todo=".venv/bin/python -m pip install --require-hashes -r requirements/cluster.lock",
        ) from None
    if name == DASK:
        share = this_machine(workers=workers, gpus=len(find_gpus()))
        with (
            distributed.LocalCluster(
                n_workers=1,
                threads_per_worker=share.cpus,
                processes=False,
                # any free port: two of these may run beside each other
                dashboard_address="127.0.0.1:0",
                # memory is that of containers: the worker itself has little
                memory_limit=0,
                resources=_resources_of(share),
            ) as local,
            distributed.Client(local) as client,
        ):
            yield Cluster(client, name)
        return
    if workers is not None:
        raise UsageError(
            "--workers says how many CPUs of this machine are lent",
            where=f"--on {name}",
            todo="leave it out: each worker of the cluster says what it lends",
        )
    if name.endswith(SUFFIX):
        with (
            open_queue(Path(name), logs, stop or threading.Event()) as jobs,
            distributed.Client(jobs, set_as_default=False) as client,
        ):
            yield Cluster(client, name, math.inf)
        return
    try:
        client = distributed.Client(name, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers: {' '.join(str(error).split())}",
            where=f"--on {name}",
            todo="start one: .venv/bin/dask scheduler; write its address as tcp://HOST:PORT, or dask for one here",
        ) from None
    with client:
        yield Cluster(client, name)


def _share_of(resources: Mapping[str, float]) -> Share:
    memory = int(resources.get(MEMORY, 0.0) * 2**30)
    return Share(int(resources.get(CPUS, 0)), memory, int(resources.get(GPUS, 0)))


def _resources_of(share: Share) -> dict[str, float]:
    """What Dask is told that a worker has, or that a run takes."""
    # a worker that does not speak of GPUs can never have 0 of them
    gpus = {GPUS: share.gpus} if share.gpus else {}
    return {CPUS: share.cpus, MEMORY: share.memory / 2**30, **gpus}


def check_workers(cluster: Cluster, wanted: Path) -> list[Worker]:
    """The workers; `EngineError` where there are none, or one could do nothing for us."""
    every = cluster.workers()
    if not every:
        raise EngineError(
            "the cluster has no worker",
            where=f"--on {cluster.address}",
            todo=f"start one on each machine, in this tree: {_command(cluster.address)}",
        )
    for address, reason in sorted(cluster.ask_all(refusal, wanted, own_meaning()).items()):
        if reason:
            raise EngineError(
                reason,
                where=f"worker {address}",
                todo="start the workers in the same tree, where the same folder of results has the same name; "
                "mount it so that locks reach all machines (NFS: without nolock and local_lock)",
            )
    if not any(worker.share.cpus and worker.share.memory for worker in every):
        raise EngineError(
            f"no worker says how many {CPUS} and how much memory ({MEMORY}) it lends",
            where=f"--on {cluster.address}",
            todo=f"start them so: {_command(cluster.address)}",
        )
    return every


def _command(address: str) -> str:
    where = address if "://" in address else "tcp://HOST:PORT"
    return f'.venv/bin/dask worker {where} --nthreads 8 --memory-limit 0 --resources "{CPUS}=8 {MEMORY}=30"'


@contextmanager
def wanted_file(layout: Layout) -> Iterator[Path]:
    """A file that all machines see as long as its runs are wanted."""
    with tempfile.NamedTemporaryFile(
        dir=own_folder(layout.local / "work"), prefix="wanted-", delete=False
    ) as file:
        path = Path(file.name)
    try:
        yield path
    finally:
        for one in path.parent.glob(f"{path.name}*"):
            one.unlink(missing_ok=True)


@dataclass
class Counts:
    """What became of all that was handed out, for the summary."""

    courses: Counter[Course] = field(default_factory=Counter)
    lost: int = 0

    def text(self, address: str) -> str:
        """One line."""
        parts = [
            f"{self.courses[Course.RUN]} runs",
            f"{self.courses[Course.FOUND]} found in the store when their turn came",
            f"{self.courses[Course.DUPLICATE]} made twice, of which the first stays",
            f"{self.lost} lost with their worker",
        ]
        return f"on {address}: {', '.join(parts)}"


@dataclass
class _Handed:
    errand: Errand
    future: Any
    times: int


def hand_out(
    cluster: Cluster, errands: Iterable[Errand], count: int, state: CampaignState, wanted: Path
) -> Counts:
    """Have every one of so many errands carried out; returns when all have ended, or were left: a person stops.

    An errand is made when its turn comes: there may be a million.
    """
    state.progress.begin(f"runs on {cluster.address}", count)
    desk = _Desk(cluster, state, wanted)
    try:
        left = desk.run(errands, patient=False)
        # what another harness is running is looked at when all else has run
        desk.run(left, patient=True)
    finally:
        desk.close()
    return desk.counts


def _next_of(fresh: Iterator[Errand], waiting: deque[tuple[Errand, int]]) -> tuple[Errand, int] | None:
    """What is to be handed out next, and how often it was: what was lost, else what never was."""
    if waiting:
        return waiting.popleft()
    return next(((errand, 0) for errand in fresh), None)


class _Desk:
    """Hands errands out and takes returns in, a bounded number at a time."""

    def __init__(self, cluster: Cluster, state: CampaignState, wanted: Path) -> None:
        self._cluster, self._state, self._wanted = cluster, state, wanted
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._out: dict[str, _Handed] = {}
        self._seen_worker = time.monotonic()
        self._number = 0
        self.counts = Counts()

    def run(self, errands: Iterable[Errand], *, patient: bool) -> list[Errand]:
        """Carry them out; what another harness is running is asked for again if `patient`, else it is returned."""
        # those that had their turn and need another, before all others
        fresh, waiting, elsewhere = iter(errands), deque[tuple[Errand, int]](), list[Errand]()
        looked = see = 0.0
        ready = _next_of(fresh, waiting)
        while ready or self._out:
            if self._state.is_ending():
                fresh, ready = iter(()), None
                waiting.clear()
                enough_file(self._wanted).touch()
            if self._state.stop.is_set():
                self._wanted.unlink(missing_ok=True)
            if time.monotonic() - looked > 10 * _LOOK_S:
                room, looked = self._room(), time.monotonic()
            if time.monotonic() > see:
                began = time.monotonic()
                self._see_what_began()
                # of many workers there is much to read: it takes a twentieth of the time at most
                see = time.monotonic() + max(2 * _LOOK_S, 20 * (time.monotonic() - began))
            while ready and len(self._out) < room:
                self._hand_out(*ready)
                ready = _next_of(fresh, waiting)
            try:
                handed = self._out.pop(self._ended.get(timeout=_LOOK_S))
            except queue.Empty:
                continue
            if (back := self._returned(handed)) is None:
                waiting.appendleft((handed.errand, handed.times))
            elif back.course is not Course.ELSEWHERE:
                self._take_in(handed.errand, back)
            elif patient:
                self._state.stop.wait(_LOOK_S)
                waiting.append((handed.errand, 0))
            else:
                elsewhere.append(handed.errand)
            ready = ready or _next_of(fresh, waiting)
        return elsewhere

    def close(self) -> None:
        """Ask nothing more of the scheduler."""
        for handed in self._out.values():
            handed.future.cancel()

    def _see_what_began(self) -> None:
        for handed in self._out.values():
            planned = handed.errand.planned
            if hosts := hosts_of(handed.errand):
                self._state.tally.begun(planned.key, planned.job.label, hosts[-1])

    def _room(self) -> int:
        """How many runs the scheduler may hold; `EngineError` where no worker has been there for a while."""
        if self._cluster.client.status != "running":
            raise self._gone("the scheduler does not answer any more")
        threads = sum(worker.threads for worker in self._cluster.workers())
        if threads:
            self._seen_worker = time.monotonic()
        elif time.monotonic() - self._seen_worker > self._cluster.workerless_s:
            raise self._gone(f"there has been no worker for {self._cluster.workerless_s:.0f} s")
        return max(1, _AHEAD * threads)

    def _gone(self, what: str) -> EngineError:
        todo = "finished runs are kept, and the same command resumes"
        return EngineError(what, where=f"--on {self._cluster.address}", todo=todo)

    def _hand_out(self, errand: Errand, times: int) -> None:
        if errand.planned.job.method in self._state.given_up:
            return
        self._number += 1
        name = f"permafrost-{errand.planned.key[:16]}-{self._wanted.name}-{self._number}"
        card = card_of(errand.layout, errand.planned.job)
        share = Share.of(card.resources)
        future = self._cluster.client.submit(
            carry_out,
            errand,
            key=name,
            pure=False,
            resources=_resources_of(share),
        )
        self._out[name] = _Handed(errand, future, times + 1)
        future.add_done_callback(lambda _: self._ended.put(name))

    def _returned(self, handed: _Handed) -> Return | None:
        """What came back; None where its worker was lost, and it is to be handed out again."""
        from distributed import CancelledError, KilledWorker

        try:
            back: Return = handed.future.result()
            return back
        except (KilledWorker, CancelledError):
            self._state.tally.left(handed.errand.planned.key, lost=True)
            if handed.times < _TIMES and not self._state.is_ending():
                return None
            self.counts.lost += handed.times
            reason = f"its worker was lost {handed.times} times"
        # Broad on purpose: Dask hands on whatever went wrong on the way there or back.
        except Exception as error:  # noqa: BLE001
            reason = f"it could not be handed out: {type(error).__name__}: {' '.join(str(error).split())}"
        Obstacles(handed.errand.layout.runs).note("run", handed.errand.planned.key, reason)
        return Return(Course.FAULT, reason=reason)

    def _take_in(self, errand: Errand, back: Return) -> None:
        self.counts.courses[back.course] += 1
        self.counts.lost += back.lost
        job, state = errand.planned.job, self._state
        if back.course is Course.STOPPED:
            state.tally.left(errand.planned.key)
            return
        if not back.is_of_data:
            count_failures(job.method, state, failed=back.verdict is Verdict.INFRASTRUCTURE)
        verdict = Verdict.MISSING_DATA if back.is_of_data else back.verdict
        state.tally.ended(errand.planned.key, verdict, back.host, expected=errand.expected_s)
        took = f" ({back.seconds:.1f} s)" if back.course is not Course.FAULT else ""
        reason = "" if verdict is Verdict.OK else f": {back.reason}"
        state.progress.step(f"{verdict}: {job.label}{took}{reason}")
