"""Comma-separated tables that a person made: rows with their line numbers, and faults that name file and line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base.errors import CorruptData


def rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with their line numbers; empty lines are skipped."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            for row in reader:
                if row:
                    yield reader.line_num, [cell.strip() for cell in row]
    except UnicodeDecodeError as error:
        raise CorruptData(f"not UTF-8: {error.reason}", where=str(path), todo="save the table as UTF-8") from None
    except csv.Error as error:
        raise CorruptData(f"not a comma-separated table: {error}", where=str(path)) from None


def check_width(row: Sequence[str], header: Sequence[str], where: str) -> None:
    """Raise `CorruptData` unless a row has as many cells as the header."""
    if len(row) != len(header):
        raise CorruptData(
            f"{len(row)} cells instead of {len(header)}", where=where, todo="give every line the header's columns"
        )
