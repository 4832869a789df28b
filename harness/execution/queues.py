"""Workers that a queue starts: one TOML file says what Slurm, PBS, SGE or LSF is asked for.

Each job of the queue is one worker. A job that the queue ended, at its walltime say, is submitted again as long as
there are runs: the cluster looks after that, and the store knows what was done.
"""

from __future__ import annotations

import re
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator

from harness.base.errors import EngineError, UsageError
from harness.base.few import few_in_line
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.manifest_faults import plain_faults
from harness.base.manifests import Strict, load_toml
from harness.base.plurals import counted

if TYPE_CHECKING:
    from dask_jobqueue.core import JobQueueCluster

SUFFIX = ".toml"
# What a worker itself takes of its job's memory.
_KEPT_BACK_GIB = 1
_LOOK_S = 0.5
# In place of the number that a queue gives to a job.
_REFUSED = "0"
# Networks that a message names.
_NAMED = 8
_TIME = re.compile(r"([0-9]+-)?[0-9]+:[0-9]{2}(:[0-9]{2})?")


class QueueFile(Strict):
    """What one job of the queue is, and how many there are."""

    queue: Literal["slurm", "pbs", "sge", "lsf"]
    # jobs of the queue, each a worker
    workers: int = Field(ge=1)
    cpus: int = Field(ge=1)
    # one of them is for the worker itself
    GiB: int = Field(gt=_KEPT_BACK_GIB)
    # GPUs of one job, which `directives` ask the queue for: "--gres=gpu:2"
    gpus: int = Field(default=0, ge=0)
    walltime: str
    # the queue's own name: a partition of Slurm
    partition: str | None = None
    account: str | None = None
    # further lines for the queue, without their mark: "--exclusive"
    directives: tuple[str, ...] = ()
    # commands before the worker starts: "module load podman"
    before: tuple[str, ...] = ()
    # the network that scheduler and workers talk over: "ib0"
    interface: str | None = None

    @field_validator("walltime")
    @classmethod
    def _is_a_time(cls, text: str) -> str:
        if not _TIME.fullmatch(text):
            raise ValueError(f"'{text}' is no time such as '24:00:00' or '2-00:00:00'")
        return text

    @property
    def resources(self) -> str:
        """What a worker lends to runs, as Dask is told."""
        gpus = f" GPU={self.gpus}" if self.gpus else ""
        return f"cpus={self.cpus} GiB={self.GiB - _KEPT_BACK_GIB}{gpus}"


def asked_of(path: Path) -> QueueFile:
    """What a file asks of a queue."""
    if not path.is_file():
        raise UsageError("there is no such file", where=f"--on {path}", todo="write one: docs/cluster.md")
    with plain_faults(path, QueueFile):
        return load_toml(path, QueueFile)


def logs_of(layout: Layout) -> Path:
    """Where the queue writes what workers print."""
    return layout.local / "queue"


@contextmanager
def open_queue(path: Path, logs: Path, stop: threading.Event) -> Iterator[JobQueueCluster]:
    """A scheduler in this process, with at least one worker that the queue has started; all jobs end with it."""
    asked = asked_of(path)
    _check_interface(asked, path)
    logs.mkdir(parents=True, exist_ok=True)
    refusals: list[str] = []
    with _cluster_of(asked, logs, refusals) as cluster:
        # lost workers are replaced, which merely asking for so many would not do
        cluster.adapt(minimum_jobs=asked.workers, maximum_jobs=asked.workers, interval="2s")
        with activity(f"{asked.queue}: waiting for the first of {counted(asked.workers, 'worker')}"):
            _await_worker(cluster, path, refusals, stop)
        yield cluster


def _check_interface(asked: QueueFile, path: Path) -> None:
    """Refuse a network that this machine, where the scheduler is, does not have."""
    known = [name for _, name in socket.if_nameindex()]
    if asked.interface is not None and asked.interface not in known:
        raise UsageError(
            f"this machine has no network interface '{asked.interface}'",
            where=f"{path}: interface",
            todo=f"name one that it has: {few_in_line(known, _NAMED)}",
        )


def _await_worker(cluster: JobQueueCluster, path: Path, refusals: list[str], stop: threading.Event) -> None:
    """Wait as long as the queue takes, or a person; `EngineError` if it takes no job."""
    while not cluster.scheduler_info["workers"]:
        if refusals:
            raise EngineError(
                "the queue takes no job: " + refusals[0], where=str(path), todo="correct the file: docs/cluster.md"
            )
        if stop.wait(_LOOK_S):
            raise KeyboardInterrupt


def _cluster_of(asked: QueueFile, logs: Path, refusals: list[str]) -> JobQueueCluster:
    try:
        import dask_jobqueue
    except ImportError:
        raise EngineError(
            "dask-jobqueue is not installed here",
            where=f"queue = {asked.queue}",
            todo=".venv/bin/python -m pip install --require-hashes -r requirements/cluster.lock",
        ) from None
    kinds = {
        "slurm": (dask_jobqueue.SLURMCluster, "account"),
        "pbs": (dask_jobqueue.PBSCluster, "account"),
        "sge": (dask_jobqueue.SGECluster, "project"),
        "lsf": (dask_jobqueue.LSFCluster, "project"),
    }
    kind, account = kinds[asked.queue]
    cluster: JobQueueCluster = kind(
        job_cls=_telling(kind.job_cls, refusals.append),
        queue=asked.partition,
        cores=asked.cpus,
        processes=1,
        memory=f"{asked.GiB}GiB",
        walltime=asked.walltime,
        interface=asked.interface,
        # in the place of the job's shell: the queue's signals reach it, and it does not outlive the job
        python=f"exec {shlex.quote(sys.executable)}",
        # one process: a nanny would start a lost worker again, and the job would not end
        nanny=False,
        log_directory=str(logs),
        job_name="permafrost",
        job_extra_directives=list(asked.directives),
        job_script_prologue=list(asked.before),
        # memory is that of containers: the worker itself has little. The last of an option counts.
        worker_extra_args=["--resources", shlex.quote(asked.resources), "--memory-limit", "0", "--no-dashboard"],
        # any free port: several of these may run beside each other
        scheduler_options={"dashboard_address": ":0"},
        **{account: asked.account},
    )
    return cluster


def _telling(job: type[Any], tell: Callable[[str], None]) -> type[Any]:
    """A kind of job that tells why the queue did not take it, which else stands in a log of Dask's alone.

    To Dask such a job is one that waits: a fault here would keep it from closing what it has opened.
    """

    class Telling(job):  # type: ignore[misc]
        async def _submit_job(self, script: str) -> str:
            try:
                return str(await super()._submit_job(script))
            except (OSError, RuntimeError) as error:
                tell(_in_a_line(error))
                return _REFUSED

        @classmethod
        async def _close_job(cls, job_id: str | None, cancel_command: str) -> None:
            if job_id != _REFUSED:
                await super()._close_job(job_id, cancel_command)

    return Telling


def _in_a_line(error: OSError | RuntimeError) -> str:
    """Why a job was not taken; of what the queue's command printed, the last line."""
    if isinstance(error, FileNotFoundError):
        return f"the command {error.filename} is not on this machine"
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
