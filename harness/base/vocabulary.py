"""The words every table shares: the verdicts a planned cell can have, and what each means."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

PROTOCOL_VERSION = 1

# What a container computes on; the CPU is the reference.
Accelerator = Literal["cpu", "cuda"]


class Verdict(StrEnum):
    """The state of one planned cell. Every cell has exactly one; there is no other way to be in a table."""

    OK = "ok"
    ERROR = "error"
    MEMORY = "memory"
    TIMEOUT = "timeout"
    INVALID = "invalid"
    UNSTABLE = "unstable"
    MISSING_DATA = "missing-data"
    NOT_APPLICABLE = "not-applicable"
    INFRASTRUCTURE = "infrastructure"
    INTERRUPTED = "interrupted"
    PENDING = "pending"

    @property
    def meaning(self) -> str:
        """One sentence for legends."""
        return _MEANINGS[self]

    @property
    def is_good(self) -> bool:
        """Whether this cell leaves nothing to be done: the run is valid, or there is nothing to run."""
        return self in (Verdict.OK, Verdict.NOT_APPLICABLE)

    @property
    def is_final(self) -> bool:
        """Whether a run ended for a reason of the method's own, so that repeating it would tell nothing new."""
        return self in _FINAL


_MEANINGS = {
    Verdict.OK: "the container finished and its predictions are valid",
    Verdict.ERROR: "the method ended with a non-zero exit code or was killed by a signal",
    Verdict.MEMORY: "the method, or a child of it, was killed for want of memory",
    Verdict.TIMEOUT: "the harness stopped the container at its time limit",
    Verdict.INVALID: "the container ended well, but its predictions break the protocol",
    Verdict.UNSTABLE: "a repetition of the run gave other predictions",
    Verdict.MISSING_DATA: "a file the dataset or the method needs is missing, or is not the recorded one",
    Verdict.NOT_APPLICABLE: "the method declares that it cannot be run on this dataset",
    Verdict.INFRASTRUCTURE: "the engine or the machine failed, not the method; the run is tried again next time",
    Verdict.INTERRUPTED: "a person stopped the run; it is tried again next time",
    Verdict.PENDING: "not run yet",
}

_FINAL = frozenset({Verdict.OK, Verdict.ERROR, Verdict.MEMORY, Verdict.TIMEOUT, Verdict.INVALID, Verdict.UNSTABLE})
