"""What the kernel says about a container while it lives: peak memory, CPU time, kills, and the real limit.

Engines differ in what they report after the end (Podman's OOM flag stays false on the first cgroup version;
the statistics are gone with the control group), so the kernel is asked directly, as long as this machine
lets us read it. Where it does not, every answer is None and nothing is claimed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_UNLIMITED = 1 << 60


@dataclass(frozen=True)
class Usage:
    """One reading."""

    peak_bytes: int | None = None
    cpu_seconds: float | None = None
    kills: int | None = None
    limit_bytes: int | None = None


@cache
def mounts() -> dict[str, Path]:
    """Where each controller is mounted: `memory`, `cpuacct` (first version) or `` (second version)."""
    found: dict[str, Path] = {}
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            left, _, right = line.partition(" - ")
            kind, _, options = right.partition(" ")
            root, point = left.split()[3:5]
            # a control group namespace shows its own root; only a full view can name others' groups
            if root != "/":
                continue
            if kind == "cgroup2":
                found.setdefault("", Path(point))
            elif kind == "cgroup":
                for controller in re.split(r"[ ,]", options):
                    if controller in ("memory", "cpuacct"):
                        found.setdefault(controller, Path(point))
    return found


def groups_of(text: str) -> dict[str, str]:
    """Controller -> group path, from the text of /proc/PID/cgroup."""
    groups: dict[str, str] = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            groups[""] = path
        for controller in controllers.split(","):
            if controller in ("memory", "cpuacct"):
                groups[controller] = path
    return groups


def own_group(path: str, container: str) -> str | None:
    """The part of a group's path that belongs to one container alone; None where it shares another's group.

    A rootless container without delegated controllers lives in its user's session: what is counted there is
    not its own, and an out-of-memory kill there may be of a neighbour.
    """
    parts = path.strip("/").split("/")
    for depth, part in enumerate(parts):
        if container and container in part:
            return "/".join(parts[: depth + 1])
    return None


class ControlGroup:
    """The control group of one container, read while it exists; remembers the last good reading."""

    def __init__(self, pid: int, container: str) -> None:
        self._memory: Path | None = None
        self._cpu: Path | None = None
        self._below: list[Path] = []
        self.usage = Usage()
        self.events: int | None = None
        self.version = 0
        self._signals = 0
        self._signalled_alive = False
        try:
            groups = groups_of(Path(f"/proc/{pid}/cgroup").read_text())
        except OSError:
            return
        places = mounts()
        self.version = 1 if "memory" in groups and "memory" in places else 2
        controller = "memory" if self.version == 1 else ""
        if controller not in groups or controller not in places:
            return
        own = own_group(groups[controller], container)
        if own is None:
            return
        self._memory = places[controller] / own
        leaf = places[controller] / groups[controller].lstrip("/")
        self._below = [path for path in (leaf, *leaf.parents) if self._memory in path.parents]
        self._cpu = self._memory
        if self.version == 1:
            used = own_group(groups.get("cpuacct", ""), container)
            self._cpu = places["cpuacct"] / used if used and "cpuacct" in places else None
            self.events = _subscribe(self._memory)
        self.read()

    def read(self) -> Usage:
        """Read again; what can no longer be read keeps its last value. Peaks and counters never fall."""
        if self._memory is None:
            return self.usage
        last = self.usage
        if self.version == 1:
            peak = _number(self._memory / "memory.max_usage_in_bytes")
            limit = self._limit("memory.limit_in_bytes")
            kills = _field(self._memory / "memory.oom_control", "oom_kill")
            nanoseconds = _number(self._cpu / "cpuacct.usage") if self._cpu else None
            seconds = None if nanoseconds is None else nanoseconds / 1e9
        else:
            peak = _number(self._memory / "memory.peak") or _number(self._memory / "memory.current")
            limit = self._limit("memory.max")
            kills = _field(self._memory / "memory.events", "oom_kill")
            microseconds = _field(self._memory / "cpu.stat", "usage_usec")
            seconds = None if microseconds is None else microseconds / 1e6
        self.usage = Usage(
            peak_bytes=_larger(last.peak_bytes, peak),
            cpu_seconds=last.cpu_seconds if seconds is None else seconds,
            kills=_larger(last.kills, kills),
            limit_bytes=last.limit_bytes if limit is None else limit,
        )
        return self.usage

    def _limit(self, name: str) -> int | None:
        """The lowest limit: some engines put it on the container's group, some on one inside it."""
        found = [_number(path / name) for path in (self._memory, *self._below) if path is not None]
        return min((limit for limit in found if limit is not None), default=None)

    def processes(self) -> list[int]:
        """The processes in here by their numbers; none where the group can't be read."""
        found = []
        for path in dict.fromkeys((self._memory, *self._below)):
            if path is not None:
                with suppress(OSError):
                    found += [int(line) for line in (path / "cgroup.procs").read_text().split()]
        return found

    @property
    def out_of_memory(self) -> bool:
        """Whether something in here was out of memory for certain."""
        return bool(self.usage.kills) or self._signalled_alive or self._signals > 1

    def take_signal(self) -> None:
        """Read again, and take the kernel's signal if there is one.

        The group's removal is signalled once, too. So a signal is certain while the group still exists,
        and two signals are certain always.
        """
        if self.events is not None:
            with suppress(BlockingIOError):
                self._signals += os.eventfd_read(self.events)
                self._signalled_alive |= (
                    self._memory is not None and (self._memory / "memory.oom_control").exists()
                )
        self.read()

    def close(self) -> None:
        """Let the subscription go."""
        if self.events is not None:
            os.close(self.events)
            self.events = None


def limit_is_kept(usage: Usage, wanted: int) -> bool | None:
    """Whether the kernel holds the limit that was asked for; None where it could not be read."""
    if usage.limit_bytes is None:
        return None
    return usage.limit_bytes <= wanted


def _subscribe(memory: Path) -> int | None:
    """An eventfd that the kernel signals when this group runs out of memory (first version, as root).

    A kill can come and the group be gone between two readings; the signal wakes us before that.
    """
    try:
        control = os.open(memory / "memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
    try:
        (memory / "cgroup.event_control").write_text(f"{event} {control}")
    except OSError:
        os.close(event)
        return None
    finally:
        os.close(control)
    return event


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    if text == "max":
        return _UNLIMITED
    return int(text) if text.isdigit() else None


def _field(path: Path, name: str) -> int | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(" ")
        if key == name and value.isdigit():
            return int(value)
    return None


def _larger(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)
