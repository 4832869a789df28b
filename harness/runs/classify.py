"""From signs to a verdict, in one pure function, because no single sign can be trusted.

Exit code 137 may be the kernel's out-of-memory kill, our own kill, someone else's, or a recovering engine.
The engine's out-of-memory flag is true with exit code 0 when only a child was killed, and false on another
engine after a real kill. A zero exit code says nothing about the output. So all signs are weighed together,
in an order in which the cause comes before its consequences.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum

from harness.vocabulary import Verdict

# a process is killed when the next page does not fit; the last reading is a little below the limit
_NEAR_LIMIT = 0.97
_KILLED = 128 + signal.SIGKILL
_FILE_TOO_LARGE = 128 + signal.SIGXFSZ


class Stop(StrEnum):
    """Why the harness itself ended a container."""

    TIMEOUT = "timeout"
    OUTPUT = "output"
    DISK = "disk"
    INTERRUPT = "interrupt"


@dataclass(frozen=True)
class Signs:
    """Everything observed about one attempt."""

    exit_code: int | None = None
    oom_flag: bool = False
    oom_kills: int | None = None
    peak_bytes: int | None = None
    memory_bytes: int = 0
    stopped: Stop | None = None
    stop_detail: str = ""
    engine_fault: str = ""
    start_fault: str = ""
    output_fault: str = ""
    last_line: str = ""
    seconds: float = 0.0


def classify(signs: Signs) -> tuple[Verdict, str]:
    """The verdict and its reason in one sentence."""
    if signs.stopped is Stop.INTERRUPT:
        return Verdict.INTERRUPTED, "stopped at the user's wish"
    if signs.start_fault:
        return Verdict.ERROR, f"the image's program could not be started: {signs.start_fault}"
    if signs.engine_fault:
        return Verdict.INFRASTRUCTURE, signs.engine_fault
    if signs.stopped is Stop.DISK:
        return Verdict.INFRASTRUCTURE, signs.stop_detail
    # an out-of-memory kill comes before all that may follow from it: a hang, an odd exit code, no output
    if signs.oom_flag or signs.oom_kills:
        return Verdict.MEMORY, _memory_reason(signs)
    if signs.stopped is Stop.TIMEOUT:
        return Verdict.TIMEOUT, signs.stop_detail
    if signs.stopped is Stop.OUTPUT:
        return Verdict.INVALID, signs.stop_detail
    if signs.exit_code is None:
        return Verdict.INFRASTRUCTURE, "the engine reported no exit code"
    if signs.exit_code == _KILLED:
        if _near_limit(signs):
            return Verdict.MEMORY, _memory_reason(signs)
        return Verdict.ERROR, _with_last_line("killed from outside (SIGKILL), far from its memory limit", signs)
    if signs.exit_code == _FILE_TOO_LARGE:
        return Verdict.INVALID, "a file grew beyond the output limit (SIGXFSZ)"
    if signs.exit_code != 0:
        return Verdict.ERROR, _with_last_line(_exit_reason(signs.exit_code), signs)
    if signs.output_fault:
        return Verdict.INVALID, signs.output_fault
    return Verdict.OK, "finished with valid predictions"


def _near_limit(signs: Signs) -> bool:
    return signs.peak_bytes is not None and signs.peak_bytes >= _NEAR_LIMIT * signs.memory_bytes


def _memory_reason(signs: Signs) -> str:
    limit = _size(signs.memory_bytes)
    if signs.exit_code == _KILLED:
        victim = "killed out of memory"
    elif signs.stopped is Stop.TIMEOUT:
        victim = "a process of it was killed out of memory; the rest ran into the time limit"
    else:
        victim = f"a process of it was killed out of memory; the rest ended with code {signs.exit_code}"
    peak = f", peak {_size(signs.peak_bytes)}" if signs.peak_bytes is not None else ""
    return f"{victim} (limit {limit}{peak})"


def _exit_reason(code: int) -> str:
    if code > 128:
        try:
            return f"ended by signal {signal.Signals(code - 128).name}"
        except ValueError:
            return f"exit code {code}"
    return f"exit code {code}"


def _with_last_line(reason: str, signs: Signs) -> str:
    return f"{reason}: {signs.last_line}" if signs.last_line else reason


def _size(count: int | None) -> str:
    return "unknown" if count is None else f"{count / (1 << 20):.0f} MiB"
