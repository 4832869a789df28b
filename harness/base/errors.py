"""The exceptions a person may meet. Each message says what happened, where, and what to do next.

HarnessError            base; carries the exit code of the command line
|-- UsageError          2    the request itself is wrong
|   `-- ManifestError   2    a TOML file breaks its schema: file and field are named
|-- EngineError         3    no engine, or the engine failed
|   `-- ImageError      3    an image is missing, cannot be built, or is not what its record says
|-- DataError           4    data is missing or corrupt
|   |-- MissingData     4    a file is in none of its sources
|   |-- CorruptData     4    a file differs from its recorded sha256 or statistics
|   `-- WeightsError    4    a pretrained model is missing or not the recorded one; no dataset suffers from it
`-- AuditError          5    evidence does not support a number
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from pathlib import Path


class HarnessError(Exception):
    """What happened (`what`), where (`where`: file, line, field), what to do (`todo`)."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", todo: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.todo = todo

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.todo:
            lines.append(f"  to do: {self.todo}")
        return "\n".join(lines)


class UsageError(HarnessError):
    """The request itself is wrong."""

    exit_code = 2


class ManifestError(UsageError):
    """A TOML file breaks its schema."""


class EngineError(HarnessError):
    """No container engine answers, or the engine failed."""

    exit_code = 3


class ImageError(EngineError):
    """An image is missing, cannot be built, or is not what its record says."""


class DataError(HarnessError):
    """Data is missing or corrupt."""

    exit_code = 4


class MissingData(DataError):
    """A file is in none of its sources."""


class CorruptData(DataError):
    """A file differs from its recorded sha256 or statistics."""


class WeightsError(DataError):
    """A pretrained model is missing, or is not the recorded one."""


class AuditError(HarnessError):
    """Evidence does not support a number."""

    exit_code = 5


class InvalidPredictions(Exception):
    """What a container wrote breaks the protocol; the message says how. Becomes the verdict `invalid`."""


def unknown(kind: str, name: str, known: Collection[str], *, where: Path | str = "") -> UsageError:
    """The error for an unknown name, with the nearest one that exists."""
    small = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), small, n=1)
    hint = f"did you mean '{small[near[0]]}'? " if near else ""
    return UsageError(
        f"no {kind} is called '{name}'",
        where=str(where),
        todo=f"{hint}known: {', '.join(known) or 'none'}",
    )


def refuse_unknown(kind: str, names: Iterable[str], known: Iterable[str], *, where: object = "") -> None:
    """Raise `UsageError` for an unknown name: a filter by it would show an empty table, as if all were well."""
    choice = sorted(set(known))
    for name in names:
        if name not in choice:
            raise unknown(kind, name, choice, where=str(where))
