"""The kernel's signal that a control group ran out of memory, as a file that can be waited for.

A kill can come and the group be gone between two readings; the signal wakes the reader before that.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress
from pathlib import Path

EVENTS = "memory.events"
_WHOLE = 4096


class ShortageSignal:
    """Waits on one group; without one, or where the kernel refuses, `handle` is None and nothing is claimed."""

    def __init__(self, group: Path | None, *, version: int = 1) -> None:
        self._group = group
        self.count = 0
        self._file: int | None = None
        self.handle: int | None = None
        if group is not None and version == 1:
            self.handle = _subscribe(group)
        elif group is not None:
            self._watch_events(group)

    def take(self) -> bool:
        """Whether this group, or one above it, has run out of memory for certain; the next wait begins.

        The first version signals a group's removal, too. So a signal is certain while the group still exists,
        and two are certain always. The second version counts in the file itself.
        """
        if self.handle is None or self._group is None:
            return False
        if self._file is not None:
            # to read is to wait for the next change
            with suppress(OSError):
                os.pread(self._file, _WHOLE, 0)
            return False
        with suppress(BlockingIOError):
            self.count += os.eventfd_read(self.handle)
        return self.count > 1 or (self.count == 1 and (self._group / "memory.oom_control").exists())

    def close(self) -> None:
        """End the subscription."""
        for handle in (self.handle, self._file):
            if handle is not None:
                os.close(handle)
        self.handle = self._file = None

    def _watch_events(self, group: Path) -> None:
        """A changed `memory.events` is urgent input; a poll within a poll hides that it is always readable."""
        try:
            self._file = os.open(group / EVENTS, os.O_RDONLY)
        except OSError:
            return
        urgent = select.epoll()
        try:
            urgent.register(self._file, select.EPOLLPRI)
            os.pread(self._file, _WHOLE, 0)
            self.handle = os.dup(urgent.fileno())
        except OSError:
            os.close(self._file)
            self._file = None
        finally:
            urgent.close()


def _subscribe(group: Path) -> int | None:
    """An eventfd for the first version; only root may have it."""
    try:
        control = os.open(group / "memory.oom_control", os.O_RDONLY)
    except OSError:
        return None
    event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
    try:
        # opened as it is: what is no control group must not get a file
        with (group / "cgroup.event_control").open("r+") as registration:
            registration.write(f"{event} {control}")
    except OSError:
        os.close(event)
        return None
    finally:
        os.close(control)
    return event
