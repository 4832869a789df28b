"""A Dask scheduler, and workers that come and go, as processes that end with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from harness.execution.cluster import open_cluster
from tests.conftest import REPOSITORY

_WAIT_S = 60.0


class Machines:
    """A scheduler, and workers that come and go."""

    def __init__(self, folder: Path, host: str = "127.0.0.1") -> None:
        self._log = (folder / "dask.log").open("ab")
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file), "--host", host)
        until(file.is_file)
        until(lambda: b"tcp://" in file.read_bytes())
        self.address = file.read_text().partition('"address": "')[2].partition('"')[0]
        self.workers: list[subprocess.Popen[bytes]] = []
        self._open = ExitStack()
        self._cluster = self._open.enter_context(open_cluster(self.address, logs=folder))

    def add(
        self,
        resources: str = "cpus=2 GiB=4",
        seconds: float = 0.1,
        count: int = 1,
        *,
        before: tuple[str, ...] = (),
        host: str = "",
        sleeping: bool = True,
    ) -> None:
        """Other workers, by a command that `before` starts; they are there when this returns.

        Their runs sleep where a container would be, if they are `sleeping`.
        """
        words = ["--no-nanny", "--nthreads", "2", "--memory-limit", "0"]
        words += ["--preload", "tests.campaigns.sleeping"] if sleeping else []
        words += ["--resources", resources] if resources else []
        words += ["--host", host] if host else []
        self.workers += [
            self._start("worker", self.address, *words, seconds=seconds, before=before) for _ in range(count)
        ]
        until(lambda: self.count() >= len(self.workers))

    def addresses(self) -> set[str]:
        """The addresses of the workers."""
        return {worker.address for worker in self._cluster.workers()}

    def count(self) -> int:
        """How many workers the scheduler knows."""
        return len(self._cluster.workers())

    def kill(self, number: int) -> None:
        worker = self.workers.pop(number)
        worker.kill()
        worker.wait()
        until(lambda: self.count() == len(self.workers))

    def close(self) -> None:
        self._open.close()
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self._log.close()

    def _start(
        self, kind: str, *words: str, seconds: float = 0.1, before: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PERMAFROST_TEST_SLEEP": str(seconds)}
        command = [*before, sys.executable, "-m", "distributed.cli.dask_" + kind, "--no-dashboard", *words]
        return subprocess.Popen(
            command, stdout=self._log, stderr=self._log, env=environment, cwd=REPOSITORY, start_new_session=True
        )


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_S
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
