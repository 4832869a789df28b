"""One step of an audit: what was checked, what it found, and what it should have found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from harness.base.errors import HarnessError, InvalidPredictions, MissingData


class Checked(StrEnum):
    """What a step came to. What was not checked is never called ok."""

    OK = "ok"
    FAILED = "FAILED"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Step:
    """One link of the chain from a number to what it rests on."""

    name: str
    checked: Checked
    what: str
    expected: str = ""
    found: str = ""
    where: str = ""


@dataclass(frozen=True)
class Audit:
    """The chain of one run."""

    key: str
    label: str
    superseded: str
    steps: tuple[Step, ...]
    # why the run shows nothing, where it did not end for a reason of its method's own
    unfinished: str = ""

    @cached_property
    def counts(self) -> Counter[Checked]:
        """How many steps came to what."""
        return Counter(step.checked for step in self.steps)

    @property
    def failed(self) -> bool:
        """Whether any link is broken."""
        return self.counts[Checked.FAILED] > 0


def ok(name: str, what: str, found: str = "") -> Step:
    """A link that holds."""
    return Step(name, Checked.OK, what, found=found)


def failed(name: str, what: str, *, expected: str = "", found: str = "", where: Path | str = "") -> Step:
    """A broken link."""
    return Step(name, Checked.FAILED, what, expected, found, str(where))


def not_checked(name: str, why: str) -> Step:
    """A link nobody looked at, and why."""
    return Step(name, Checked.NOT_CHECKED, why)


def equal(name: str, what: str, expected: str, found: str, where: Path | str = "") -> Step:
    """A link that holds when two texts are equal."""
    if expected == found:
        return Step(name, Checked.OK, what, found=found)
    return Step(name, Checked.FAILED, what, expected, found, str(where))


def guarded(name: str, check: Callable[[], Sequence[Step]]) -> list[Step]:
    """The steps of a check. An error it meets becomes a step: absent data was not checked, the rest is broken."""
    try:
        return list(check())
    except MissingData as error:
        return [not_checked(name, f"{error.what} ({error.where})")]
    except HarnessError as error:
        return [failed(name, error.what, where=error.where)]
    except InvalidPredictions as error:
        return [failed(name, str(error))]
    except OSError as error:
        return [failed(name, f"can't be read: {error.strerror}", where=error.filename or "")]
