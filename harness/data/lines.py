"""Original files read by name: JSON tables and lines of cells, with faults that name file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.base.errors import CorruptData, ManifestError
from harness.base.plurals import counted

# of thousands of digits Python makes no number
_MOST_DIGITS = 30


def path_of(name: str, files: Mapping[str, Path]) -> Path:
    """A file that the converter needs."""
    if name not in files:
        raise ManifestError(
            f"the file '{name}' is not listed", where="files", todo="list it under [[files]] in dataset.toml"
        )
    return files[name]


def table_in(name: str, files: Mapping[str, Path]) -> dict[str, Any]:
    """A JSON object."""
    path = path_of(name, files)
    content = json_in(path)
    if not isinstance(content, dict):
        raise CorruptData("not a JSON object", where=str(path), todo="restore the original file")
    return content


def json_in(path: Path) -> Any:
    """The content of a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CorruptData(f"not JSON: {error}", where=str(path), todo="restore the original file") from None


def lines_of(path: Path, cells: int) -> Iterator[tuple[str, list[str]]]:
    """Where a line is, and its cells; empty lines are skipped."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.isascii() and any("\udc80" <= letter <= "\udcff" for letter in line):
                raise fault(path, number, "not UTF-8")
            words = line.split()
            if len(words) == cells:
                yield f"{path}: line {number}", words
            elif words:
                raise fault(path, number, f"{counted(len(words), 'cell')} instead of {cells}")


def number_in(cell: str, span: range, what: str, where: str) -> int:
    """A whole number of the span."""
    number = whole(cell)
    if number is None or number not in span:
        raise CorruptData(
            f"{what} '{cell}' is not one of {span.start} to {span.stop - 1}",
            where=where,
            todo="restore the original file, or correct the number",
        )
    return number


def whole(cell: str) -> int | None:
    """The number that digits alone make; None for all else, and for one longer than anything that is counted."""
    return int(cell) if cell.isdecimal() and len(cell) <= _MOST_DIGITS else None


def fault(path: Path, line: int, what: str) -> CorruptData:
    """The error for a line."""
    return CorruptData(what, where=f"{path}: line {line}", todo="restore the original file")
