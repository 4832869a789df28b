"""Resource tokens: what a machine can give to runs at once, and waiting for one's share of it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.errors import UsageError
from harness.base.plurals import counted
from harness.methods.card import Resources

# What the harness, the engine and the page cache keep for themselves.
_KEPT_BACK = 1 << 30


@dataclass(frozen=True)
class Share:
    """An amount of each resource."""

    cpus: int
    memory: int
    gpus: int = 0
    # what may be written until the share comes back; how much there is changes all the time, see `Budget`
    disk: int = 0

    @classmethod
    def of(cls, resources: Resources) -> Share:
        """What one run of a method takes."""
        return cls(resources.cpus, resources.memory_bytes, resources.gpus, resources.output_bytes)

    def fits(self, other: Share) -> bool:
        """Whether `other` can be taken from this."""
        return self.cpus >= other.cpus and self.memory >= other.memory and self.gpus >= other.gpus

    def __str__(self) -> str:
        memory = f"{self.memory / 2**30:.1f} GiB of memory"
        return f"{counted(self.cpus, 'CPU')}, {memory} and {counted(self.gpus, 'GPU')}"

    def __add__(self, other: Share) -> Share:
        return Share(
            self.cpus + other.cpus, self.memory + other.memory, self.gpus + other.gpus, self.disk + other.disk
        )

    def __sub__(self, other: Share) -> Share:
        return Share(
            self.cpus - other.cpus, self.memory - other.memory, self.gpus - other.gpus, self.disk - other.disk
        )


def this_machine(*, workers: int | None = None, gpus: int = 0) -> Share:
    """What this machine can give: its CPUs (or `workers` of them) and its memory less what must stay free."""
    cpus = len(os.sched_getaffinity(0))
    if workers is not None and workers < 1:
        raise UsageError(f"{counted(workers, 'worker')} can't do anything", todo="give --workers 1 or more")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Share(cpus=workers or cpus, memory=max(memory - _KEPT_BACK, memory // 2), gpus=gpus)


@dataclass(frozen=True)
class Lent:
    """What waiting for a share gave; false where nothing was lent. `gpus` are the numbers of its own devices."""

    granted: bool
    gpus: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.granted


class Budget:
    """Hands out shares of `total`; threads wait their turn, and nothing is lent twice.

    `room` tells how many bytes may be written now. What those who hold shares may still write of them is set aside
    before another share is lent; a run that has the machine for itself starts whatever it may write. `gpus` are
    devices by their numbers.
    """

    def __init__(
        self, total: Share, room: Callable[[], int] = lambda: sys.maxsize, gpus: Sequence[str] = ()
    ) -> None:
        self.total = total
        self.gpus = tuple(gpus) or tuple(map(str, range(total.gpus)))
        self._free_gpus = list(self.gpus)
        self._free = total
        self._room = room
        self._changed = threading.Condition()

    @contextmanager
    def lend(self, share: Share, ended: Callable[[], bool]) -> Iterator[Lent]:
        """Wait for a share and hold it; yields nothing lent when all `ended` first."""
        with self._changed:
            while not self._can_lend(share) and not ended():
                self._changed.wait(timeout=0.2)
            lent = Lent(not ended())
            if lent:
                lent = Lent(True, tuple(self._free_gpus[: share.gpus]))
                del self._free_gpus[: share.gpus]
                self._free = self._free - share
        try:
            yield lent
        finally:
            if lent:
                with self._changed:
                    self._free_gpus += lent.gpus
                    self._free = self._free + share
                    self._changed.notify_all()

    def _can_lend(self, share: Share) -> bool:
        aside = self.total.disk - self._free.disk
        return self._free.fits(share) and (not aside or self._room() - aside >= share.disk)
