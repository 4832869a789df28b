"""A Dask cluster in the place of this machine: how it is reached, and what its workers lend."""

from __future__ import annotations

import math
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout
from harness.base.network_files import clock_beside
from harness.base.ownership import own_folder
from harness.execution.errands import own_meaning, refusal
from harness.execution.gpus import find_gpus
from harness.execution.queues import SUFFIX, asked_of, open_queue
from harness.planning.budget import Share, this_machine

if TYPE_CHECKING:
    from distributed import Client

LOCAL, DASK = "local", "dask"
CPUS, MEMORY, GPUS = "cpus", "GiB", "GPU"
_CONNECT_S, _WORKERLESS_S, _LOOK_S = 20.0, 60.0, 0.2
# Of another one Dask's client hangs, and leaves a trace when it is gone; without a scheme it means tcp.
_ADDRESS = re.compile(r"((tcp|tls)://)?[^\s/]+:\d{1,5}")


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
    # how many workers a queue gives, which may take its time to start another
    most: int | None = None

    def workers(self) -> list[Worker]:
        """The workers of this moment."""
        information = self.client.scheduler_info(n_workers=-1)["workers"]
        return [
            Worker(address, int(worker["nthreads"]), _share_of(worker["resources"]))
            for address, worker in information.items()
        ]

    def patience_s(self, ill: int) -> float:
        """For how long there may be no worker that can do anything, of which so many are there and can't."""
        return _WORKERLESS_S if self.most is None or ill >= self.most else math.inf

    def ask_all(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """What a function gives on each worker, which does nothing else meanwhile: it must answer at once."""
        return dict(self.client.run(function, *arguments))

    def ask_each(self, function: Callable[..., Any], *arguments: Any) -> Iterator[tuple[str, Any]]:
        """The same of one that takes its time, each worker's answer as it comes; None of one that was lost."""
        from distributed import CancelledError, KilledWorker

        asked = {
            one.address: self.client.submit(function, *arguments, workers=[one.address], pure=False)
            for one in self.workers()
        }
        while asked:
            here = {one.address for one in self.workers()}
            for address, future in [*asked.items()]:
                if not future.done() and address in here:
                    continue
                del asked[address]
                answer = None
                if future.done():
                    with suppress(CancelledError, KilledWorker):
                        answer = future.result()
                else:
                    # else it would wait for a worker of this address
                    future.cancel()
                yield address, answer
            if asked:
                time.sleep(_LOOK_S)


@contextmanager
def open_cluster(
    name: str, *, logs: Path, workers: int | None = None, stop: threading.Event | None = None
) -> Iterator[Cluster]:
    """The running scheduler with this address; for `dask` a small cluster in this process, of `workers` CPUs.

    For a TOML file the workers that a queue is asked for, which write what they print below `logs`. Until one is
    there, `stop` ends the waiting.
    """
    if name != DASK and not name.endswith(SUFFIX) and not _ADDRESS.fullmatch(name):
        raise UsageError(
            "this is no address of a Dask scheduler",
            where=f"--on {name}",
            todo="write it as tcp://HOST:PORT; dask is one in this process, FILE.toml asks a queue for workers",
        )
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
                resources=resources_of(share),
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
            yield Cluster(client, name, asked_of(Path(name)).workers)
        return
    if name.startswith("tls:") and not distributed.Security().get_connection_args("client").get("ssl_context"):
        raise UsageError(
            "Dask knows no certificates for TLS here",
            where=f"--on {name}",
            todo="name them in Dask's own configuration: distributed.comm.tls",
        )
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


def resources_of(share: Share) -> dict[str, float]:
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
                "mount it so that locks reach all machines (NFS: without nolock and local_lock); let all keep "
                "their time (chrony, ntp)",
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
    """A file that all machines see as long as its runs are wanted. In it is how our clock is."""
    with tempfile.NamedTemporaryFile(
        dir=own_folder(layout.local / "work"), prefix="wanted-", delete=False
    ) as file:
        path = Path(file.name)
    path.write_text(repr(clock_beside(path.parent)), encoding="ascii")
    try:
        yield path
    finally:
        for one in path.parent.glob(f"{path.name}*"):
            one.unlink(missing_ok=True)
