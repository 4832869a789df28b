"""What the kernel says about a container while it lives: peak memory, CPU time, kills, pauses, and the real limit.

Engines differ in what they report after the end (Podman's OOM flag stays false on the first cgroup version;
the statistics are gone with the control group), so the kernel is asked directly, as long as this machine
lets us read it. Where it does not, every answer is None and nothing is claimed.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache
from pathlib import Path
from typing import TypeVar

from harness.engine.shortage import ShortageSignal

_UNLIMITED = 1 << 60
# a process is killed when the next page does not fit; the last reading is a little below the limit
_NEAR_LIMIT = 0.97
_CONTROLLERS = ("memory", "cpuacct", "freezer")
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class Usage:
    """One reading. `refusals`: how often the group's own limit refused memory (second version)."""

    peak_bytes: int | None = None
    cpu_seconds: float | None = None
    kills: int | None = None
    refusals: int | None = None
    limit_bytes: int | None = None


class Shortage(StrEnum):
    """Whether a process of the group was killed for want of memory, and whose memory that was."""

    NONE = auto()
    OWN = auto()
    # of a group around it, or of the machine
    ABOVE = auto()
    UNREAD = auto()


@cache
def mounts() -> dict[str, Path]:
    """Where each controller is mounted: its name (first version) or `` (second version)."""
    places: dict[str, Path] = {}
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
            left, _, right = line.partition(" - ")
            kind, _, options = right.partition(" ")
            root, point = left.split()[3:5]
            # a control group namespace shows its own root; only a full view can name others' groups
            if root != "/":
                continue
            if kind == "cgroup2":
                places.setdefault("", Path(point))
            elif kind == "cgroup":
                for controller in re.split(r"[ ,]", options):
                    if controller in _CONTROLLERS:
                        places.setdefault(controller, Path(point))
    return places


def groups_of(text: str) -> dict[str, str]:
    """Controller -> group path, from the text of /proc/PID/cgroup."""
    groups: dict[str, str] = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            groups[""] = path
        for controller in controllers.split(","):
            if controller in _CONTROLLERS:
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
        # the container's group first, then those below it on the way to its process
        self._groups: tuple[Path, ...] = ()
        self._cpu: Path | None = None
        self._freezer: Path | None = None
        self._signal = self._signal_above = ShortageSignal(None)
        self._short = self._short_above = self._complete = False
        self.usage = Usage()
        self.version = 0
        try:
            groups = groups_of(Path(f"/proc/{pid}/cgroup").read_text())
        except OSError:
            return
        places = mounts()
        self.version = 1 if "memory" in groups and "memory" in places else 2
        controller = "memory" if self.version == 1 else ""
        memory = _own_place(controller, groups, container)
        if memory is None:
            return
        leaf = places[controller] / groups[controller].lstrip("/")
        self._groups = (memory, *(path for path in (leaf, *leaf.parents) if memory in path.parents))
        self._cpu = self._freezer = memory
        self._signal = ShortageSignal(memory, version=self.version)
        if self.version == 1:
            self._cpu = _own_place("cpuacct", groups, container)
            self._freezer = _own_place("freezer", groups, container)
            # a shortage is signalled to the group that has it and to all below: what the parent hears is not ours
            self._signal_above = ShortageSignal(memory.parent)
        self.read()

    @property
    def events(self) -> int | None:
        """A handle that becomes readable when memory ran out; None where the kernel cannot tell."""
        return self._signal.handle

    def read(self) -> Usage:
        """The usage now; what can no longer be read keeps its last value. Peaks and counters never fall."""
        if not self._groups:
            return self.usage
        last, now = self.usage, self._first_version() if self.version == 1 else self._second_version()
        self.usage = Usage(
            peak_bytes=_larger(last.peak_bytes, now.peak_bytes),
            cpu_seconds=_larger(last.cpu_seconds, now.cpu_seconds),
            kills=_larger(last.kills, now.kills),
            refusals=_larger(last.refusals, now.refusals),
            limit_bytes=last.limit_bytes if now.limit_bytes is None else now.limit_bytes,
        )
        return self.usage

    def read_at_end(self) -> None:
        """Read once more when the container's process has ended: where that succeeds, nothing was missed."""
        self._complete = self._kills() is not None
        self.read()

    def take_signal(self) -> None:
        """Take the kernel's signals if there are any, and read again."""
        self._short |= self._signal.take()
        self._short_above |= self._signal_above.take()
        self.read()

    def processes(self) -> list[int]:
        """The processes in here by their numbers; none where the group can't be read."""
        return [int(line) for group in self._groups for line in _text(group / "cgroup.procs").split()]

    def is_frozen(self) -> bool:
        """Whether the container is paused, through its engine or in another way."""
        if self._freezer is None:
            return False
        if self.version == 1:
            return _text(self._freezer / "freezer.state") == "FROZEN"
        return _field(self._freezer / "cgroup.events", "frozen") == 1

    def shortage(self) -> Shortage:
        """Who ran out of memory, if a process of the container was killed for it.

        The counter of kills tells that one was, not why: it counts kills for want of memory further up, too.
        """
        if self.usage.kills:
            return Shortage.OWN if self._met_own_limit() else Shortage.ABOVE
        if self._complete:
            return Shortage.NONE
        # the group was gone before it could be read a last time
        if self._short_above:
            return Shortage.ABOVE
        # the first version of control groups counts no refusals
        return Shortage.OWN if self._short or self.usage.refusals else Shortage.UNREAD

    def _met_own_limit(self) -> bool:
        """Whether a kill was for the group's own limit. A limit that cached files fill was met, too."""
        if self.version == 2:
            return bool(self.usage.refusals)
        signalled = self._signal.handle is None or self._signal.count > 0
        return signalled and not self._short_above and near_limit(self.usage.peak_bytes, self.usage.limit_bytes)

    def close(self) -> None:
        """End the subscriptions."""
        self._signal.close()
        self._signal_above.close()

    def _first_version(self) -> Usage:
        nanoseconds = _number(self._cpu / "cpuacct.usage") if self._cpu else None
        return Usage(
            peak_bytes=_number(self._groups[0] / "memory.max_usage_in_bytes"),
            cpu_seconds=None if nanoseconds is None else nanoseconds / 1e9,
            kills=self._kills(),
            limit_bytes=self._limit("memory.limit_in_bytes"),
        )

    def _second_version(self) -> Usage:
        memory = self._groups[0]
        microseconds = _field(memory / "cpu.stat", "usage_usec")
        return Usage(
            peak_bytes=_number(memory / "memory.peak") or _number(memory / "memory.current"),
            cpu_seconds=None if microseconds is None else microseconds / 1e6,
            kills=self._kills(),
            refusals=_field(memory / "memory.events", "oom"),
            limit_bytes=self._limit("memory.max"),
        )

    def _kills(self) -> int | None:
        """The number of kills. The second version counts those of groups below, too; the first does not."""
        if self.version == 2:
            return _field(self._groups[0] / "memory.events", "oom_kill") if self._groups else None
        counts = [_field(group / "memory.oom_control", "oom_kill") for group in self._groups]
        return sum(count or 0 for count in counts) if counts and counts[0] is not None else None

    def _limit(self, name: str) -> int | None:
        """The lowest limit: some engines put it on the container's group, some on one inside it."""
        limits = [_number(group / name) for group in self._groups]
        return min((limit for limit in limits if limit is not None), default=None)


def near_limit(peak: int | None, limit: int | None) -> bool:
    """Whether usage was so near to the limit that the next page may not have fitted."""
    return peak is not None and limit is not None and peak >= _NEAR_LIMIT * limit


def limit_is_kept(usage: Usage, limit_bytes: int) -> bool | None:
    """Whether the kernel holds the limit that was asked for; None where it could not be read."""
    if usage.limit_bytes is None:
        return None
    return usage.limit_bytes <= limit_bytes


def _own_place(controller: str, groups: dict[str, str], container: str) -> Path | None:
    """The folder of the container's own group under one controller."""
    own = own_group(groups.get(controller, ""), container)
    place = mounts().get(controller)
    return place / own if place is not None and own is not None else None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path)
    if text == "max":
        return _UNLIMITED
    return int(text) if text.isdigit() else None


def _field(path: Path, name: str) -> int | None:
    for line in _text(path).splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdigit():
            return int(value)
    return None


def _larger(one: _Number | None, other: _Number | None) -> _Number | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)
