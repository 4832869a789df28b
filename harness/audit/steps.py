"""One step of an audit: what was checked, what it found, and what it should have found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Literal

from harness.base.errors import EngineError, HarnessError, ImageError, InvalidPredictions, MissingData

# What an audit believes of what was found out earlier: notes of this user's harness, or none.
Believed = Literal["notes", "nothing"]


class Checked(StrEnum):
    """What a step came to. What was not checked is never called ok."""

    OK = "ok"
    FAILED = "FAILED"
    NOT_CHECKED = "not checked"


class Lack(StrEnum):
    """What an audit would need to check a link, or what keeps a checked one from being as it must be."""

    ENGINE = "engine"
    DATA = "data"
    REPLAY = "replay"
    MACHINE = "machine"
    SCORES = "scores"
    GIT = "git"
    CHANGED = "changed"
    STATEMENT = "statement"
    LOG = "log"
    STALE = "stale"
    SUPERSEDED = "superseded"
    MISSING = "missing"
    OTHER = "other"

    @property
    def meaning(self) -> str:
        """One line for people."""
        return _MEANINGS[self]


_MEANINGS = {
    Lack.ENGINE: "no engine, or the image is not in it",
    Lack.DATA: "an original file is not on this machine",
    Lack.REPLAY: "only a replay shows it",
    Lack.MACHINE: "another machine gives other bits or ends otherwise",
    Lack.SCORES: "another machine gives other scores than the committed ones, or another end",
    Lack.GIT: "no commit to hold the files against",
    Lack.CHANGED: "files differ from their commit",
    Lack.STATEMENT: "no statement, or one that something here is not as",
    Lack.LOG: "a result is not as its log tells, or is gone",
    Lack.STALE: "the kept scores are of another scorer",
    Lack.SUPERSEDED: "of code, an environment or data that has changed since",
    Lack.MISSING: "a planned cell has no sound run",
    Lack.OTHER: "not checked",
}


@dataclass(frozen=True)
class Step:
    """One link of the chain from a number to what it rests on."""

    name: str
    checked: Checked
    what: str
    expected: str = ""
    found: str = ""
    where: str = ""
    # what it takes to check it; None where it was checked, or there is nothing to check
    lack: Lack | None = None


@dataclass(frozen=True)
class Audit:
    """The chain of one run."""

    key: str
    label: str
    superseded: str
    steps: tuple[Step, ...]
    # why the run shows nothing, where it did not end for a reason of its method's own
    unfinished: str = ""
    # for sums
    benchmark: str = ""
    verdict: str = ""

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


def not_checked(name: str, why: str, lack: Lack | None = Lack.OTHER) -> Step:
    """A link nobody looked at, why, and what it would take; nothing, where there is nothing to look at."""
    return Step(name, Checked.NOT_CHECKED, why, lack=lack)


def equal(name: str, what: str, expected: str, found: str, where: Path | str = "") -> Step:
    """A link that holds when two texts are equal."""
    if expected == found:
        return Step(name, Checked.OK, what, found=found)
    return Step(name, Checked.FAILED, what, expected, found, str(where))


def guarded(name: str, check: Callable[[], Sequence[Step]]) -> list[Step]:
    """The steps of a check. An error becomes one: without data or engine not checked, else a broken link."""
    try:
        return list(check())
    except MissingData as error:
        return [not_checked(name, f"{error.what} ({error.where})", Lack.DATA)]
    except ImageError as error:
        return [failed(name, error.what, where=error.where)]
    except EngineError as error:
        return [not_checked(name, f"{error.what} ({error.where})", Lack.ENGINE)]
    except HarnessError as error:
        return [failed(name, error.what, where=error.where)]
    except InvalidPredictions as error:
        return [failed(name, str(error))]
    except OSError as error:
        return [failed(name, f"can't be read: {error.strerror}", where=error.filename or "")]
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        # its digest is right, so somebody made it so
        return [failed(name, f"what is kept is not of the form that we write ({type(error).__name__}: {error})")]
