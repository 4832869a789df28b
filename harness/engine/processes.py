"""The two processes behind a container, held by handles: their end is seen even if the engine does not report it.

An engine that hangs, or has lost the message, reports an end late or never. The kernel tells it at once. A
handle cannot come to mean another process; a number that the engine gave can, when the engine lives in another
name space. So a process is believed to be the container's only if its control group names the container.
"""

from __future__ import annotations

import os
import select
from pathlib import Path


class ContainerProcesses:
    """The container's first process, and the one by which its engine watches it (shim or monitor).

    Where the kernel or the engine does not let us hold them, `main` is None and nothing is ever claimed.
    """

    def __init__(self, pid: int, container: str) -> None:
        # held before it is looked at: what is read then is of this very process, or of none
        self.main = _held(pid)
        self.monitor: int | None = None
        self._lost = False
        if self.main is None:
            return
        try:
            is_ours = bool(container) and container in Path(f"/proc/{pid}/cgroup").read_text()
            # a name may hold anything, also half a letter
            status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
            parent = int(status.rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            is_ours = False
        if is_ours:
            self.monitor = _held(parent)
        else:
            self.close()

    @property
    def handles(self) -> tuple[int, ...]:
        """What becomes readable when one of them ends."""
        return tuple(handle for handle in (self.main, self.monitor) if handle is not None)

    def ended(self) -> bool:
        """Whether the container's first process has ended."""
        return self.main is not None and _has_ended(self.main)

    def monitor_lost(self) -> bool:
        """Whether a call of this function saw the engine's process dead while the container's process lived.

        Once both have ended nobody can tell which was first, so nothing is claimed then.
        """
        if self.main is not None and self.monitor is not None and not self._lost:
            # in this order: the one that is asked last was still alive when the other was dead
            self._lost = _has_ended(self.monitor) and not _has_ended(self.main)
        return self._lost

    def close(self) -> None:
        """Close both handles."""
        for handle in self.handles:
            os.close(handle)
        self.main = self.monitor = None


def _held(pid: int) -> int | None:
    """A handle on a process; None for process 1, and where the kernel has no such handles."""
    try:
        return os.pidfd_open(pid) if pid > 1 else None
    except OSError:
        return None


def _has_ended(handle: int) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))
