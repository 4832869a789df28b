"""Resource tokens: what a machine can give to runs at once, and waiting for one's share of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.errors import UsageError
from harness.methods import Resources

# What the harness, the engine and the page cache keep for themselves.
_KEPT_BACK = 1 << 30


@dataclass(frozen=True)
class Share:
    """An amount of each resource."""

    cpus: int
    memory: int
    gpus: int = 0

    @classmethod
    def of(cls, resources: Resources) -> Share:
        """What one run of a method takes."""
        return cls(cpus=resources.cpus, memory=resources.memory_bytes, gpus=resources.gpus)

    def fits(self, other: Share) -> bool:
        """Whether `other` can be taken from this."""
        return self.cpus >= other.cpus and self.memory >= other.memory and self.gpus >= other.gpus

    def __str__(self) -> str:
        return f"{self.cpus} CPUs, {self.memory / 2**30:.1f} GiB of memory and {self.gpus} GPUs"

    def __add__(self, other: Share) -> Share:
        return Share(self.cpus + other.cpus, self.memory + other.memory, self.gpus + other.gpus)

    def __sub__(self, other: Share) -> Share:
        return Share(self.cpus - other.cpus, self.memory - other.memory, self.gpus - other.gpus)


def this_machine(*, workers: int | None = None, gpus: int = 0) -> Share:
    """What this machine can give: its CPUs (or `workers` of them) and its memory less what must stay free."""
    cpus = len(os.sched_getaffinity(0))
    if workers is not None and workers < 1:
        raise UsageError(f"{workers} workers can't do anything", todo="give --workers 1 or more")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Share(cpus=workers or cpus, memory=max(memory - _KEPT_BACK, memory // 2), gpus=gpus)


class Budget:
    """Hands out shares of `total`; threads wait their turn, and nothing is lent twice."""

    def __init__(self, total: Share) -> None:
        self.total = total
        self._free = total
        self._changed = threading.Condition()

    @contextmanager
    def lend(self, share: Share, stop: threading.Event) -> Iterator[bool]:
        """Wait for a share and hold it; yields False when `stop` was set first."""
        with self._changed:
            while not self._free.fits(share) and not stop.is_set():
                self._changed.wait(timeout=0.2)
            granted = not stop.is_set()
            if granted:
                self._free = self._free - share
        try:
            yield granted
        finally:
            if granted:
                with self._changed:
                    self._free = self._free + share
                    self._changed.notify_all()
