"""From signs to a verdict, in one pure function, because no single sign can be trusted.

Exit code 137 may be the kernel's out-of-memory kill, our own kill, someone else's, or a recovering engine.
The engine's out-of-memory flag is true with exit code 0 when only a child was killed, true when a group
around the container was short of memory, and false on another engine after a real kill. A zero exit code says
nothing about the output, and our clock says nothing about a container that had ended before. So all signs are
weighed together, in an order in which the cause comes before its consequences. Nothing that a method says of
itself is among them.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum

from harness.base.vocabulary import Verdict
from harness.engine.cgroup import Shortage

# how often a run is tried whose end may not have been its own doing
ATTEMPTS = 3
_KILLED = 128 + signal.SIGKILL
# what a person, a watchdog or a machine that goes down ends a process with
_FROM_OUTSIDE = (_KILLED, 128 + signal.SIGTERM)


class Stop(StrEnum):
    """Why the harness itself ended a container."""

    TIMEOUT = "timeout"
    OUTPUT = "output"
    DISK = "disk"
    PAUSED = "paused"
    INTERRUPT = "interrupt"


@dataclass(frozen=True)
class Signs:
    """Everything observed about one attempt, and how many before it were killed for no reason that is known.

    `ran_s` is how long the container itself ran, `peak_bytes` and `shortage` are the kernel's.
    """

    exit_code: int | None = None
    shortage: Shortage = Shortage.UNREAD
    oom_flag: bool = False
    peak_bytes: int | None = None
    memory_bytes: int = 0
    ran_s: float | None = None
    paused_s: float = 0.0
    limit_s: float = 0.0
    stopped: Stop | None = None
    stop_detail: str = ""
    engine_fault: str = ""
    start_fault: str = ""
    disk_fault: str = ""
    output_fault: str = ""
    earlier_kills: int = 0
    last_line: str = ""


def classify(signs: Signs) -> tuple[Verdict, str]:
    """The verdict and its reason in one sentence."""
    verdict, reason = _cause(signs)
    # what met a full disk may have failed for that alone; who wrote more than it may has filled it
    innocent = verdict in (Verdict.ERROR, Verdict.INVALID, Verdict.TIMEOUT) and signs.stopped is not Stop.OUTPUT
    if innocent and signs.disk_fault:
        return Verdict.INFRASTRUCTURE, f"{signs.disk_fault}; the run ended so: {reason}"
    return verdict, reason


def is_unexplained_kill(signs: Signs) -> bool:
    """Whether the run was killed, but not by the harness and not by the kernel for lack of memory.

    A person, a watchdog or the method itself may have done it; the signs are the same.
    """
    is_killed = signs.exit_code in _FROM_OUTSIDE and signs.stopped is None and not signs.engine_fault
    return is_killed and signs.shortage is not Shortage.ABOVE and not _out_of_memory(signs)


def _cause(signs: Signs) -> tuple[Verdict, str]:
    if signs.stopped is Stop.INTERRUPT:
        return Verdict.INTERRUPTED, "a person stopped it"
    if signs.start_fault:
        return Verdict.ERROR, f"the image's program could not be started: {signs.start_fault}"
    if signs.engine_fault:
        return Verdict.INFRASTRUCTURE, signs.engine_fault
    if signs.stopped in (Stop.DISK, Stop.PAUSED):
        return Verdict.INFRASTRUCTURE, signs.stop_detail
    # a kill for want of memory comes before all that may follow from it: a hang, an odd exit code, no output
    if signs.shortage is Shortage.ABOVE:
        return Verdict.INFRASTRUCTURE, _memory_reason(signs, "killed because memory ran out above its own limit")
    if _out_of_memory(signs):
        return Verdict.MEMORY, _memory_reason(signs, "killed out of memory")
    if signs.stopped is Stop.TIMEOUT and _time_was_up(signs):
        return Verdict.TIMEOUT, signs.stop_detail
    if signs.stopped is Stop.OUTPUT:
        return Verdict.INVALID, signs.stop_detail
    if signs.exit_code is None:
        return Verdict.INFRASTRUCTURE, "the engine reported no exit code"
    if signs.stopped is Stop.TIMEOUT and signs.exit_code in _FROM_OUTSIDE:
        return Verdict.INFRASTRUCTURE, (
            f"{signs.stop_detail}, but the container itself ran {signs.ran_s:g} s: harness or engine hung"
        )
    if is_unexplained_kill(signs):
        return _unexplained_kill(signs)
    if signs.exit_code != 0:
        return Verdict.ERROR, _with_last_line(_exit_reason(signs.exit_code), signs)
    if signs.output_fault:
        return Verdict.INVALID, signs.output_fault
    return Verdict.OK, "finished with valid predictions"


def _out_of_memory(signs: Signs) -> bool:
    """The kernel decides; only where it could not be read is the engine believed."""
    return signs.oom_flag if signs.shortage is Shortage.UNREAD else signs.shortage is Shortage.OWN


def _time_was_up(signs: Signs) -> bool:
    """Whether the container itself ran as long as it may: our clock goes on while a harness or an engine hangs."""
    return signs.ran_s is None or signs.ran_s - signs.paused_s >= signs.limit_s


def _unexplained_kill(signs: Signs) -> tuple[Verdict, str]:
    """`infrastructure`, which is tried again; from the last of ATTEMPTS kills in a row on, the method's error."""
    assert signs.exit_code is not None
    name = signal.Signals(signs.exit_code - 128).name
    if signs.earlier_kills + 1 < ATTEMPTS:
        return (
            Verdict.INFRASTRUCTURE,
            f"killed ({name}), and neither the harness nor its memory limit is known to have done it",
        )
    reason = f"killed ({name}) {ATTEMPTS} times in a row, not by the harness or its memory limit"
    return Verdict.ERROR, _with_last_line(reason, signs)


def _memory_reason(signs: Signs, cause: str) -> str:
    limit = _size(signs.memory_bytes)
    if signs.exit_code == _KILLED:
        victim = cause
    elif signs.stopped is Stop.TIMEOUT:
        victim = f"a process of it was {cause}; the rest ran into the time limit"
    else:
        victim = f"a process of it was {cause}; the rest ended with code {signs.exit_code}"
    peak = f", peak {_size(signs.peak_bytes)}" if signs.peak_bytes is not None else ""
    return f"{victim} (limit {limit}{peak})"


def _exit_reason(code: int) -> str:
    try:
        return f"ended by signal {signal.Signals(code - 128).name}"
    except ValueError:
        return f"exit code {code}"


def _with_last_line(reason: str, signs: Signs) -> str:
    return f"{reason}: {signs.last_line}" if signs.last_line else reason


def _size(count: int) -> str:
    return f"{count / (1 << 20):.0f} MiB"
