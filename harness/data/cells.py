"""Comma-separated tables that a person made: rows with their line numbers, and faults that name file and line."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.plurals import counted

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class TableLine:
    """The cells of a line by column, and where it is."""

    cells: Mapping[str, str]
    where: str

    def refused(self, what: str, todo: str) -> CorruptData:
        """The error for a line that can't be used."""
        return CorruptData(what, where=self.where, todo=todo)

    def check_full(self, *columns: str) -> None:
        """Raise `CorruptData` if one of these cells is empty."""
        for column in columns:
            if not self.cells[column]:
                raise self.refused(f"the cell of '{column}' is empty", "fill it, or remove the line")


def rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with their line numbers, of a file that may be packed by gzip; empty lines are skipped."""
    try:
        with path.open("rb") as stream:
            opened = gzip.open if stream.read(len(_GZIP)) == _GZIP else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            for row in reader:
                if row:
                    yield reader.line_num, [cell.strip() for cell in row]
    except UnicodeDecodeError as error:
        raise CorruptData(f"not UTF-8: {error.reason}", where=str(path), todo="save the table as UTF-8") from None
    except (csv.Error, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise CorruptData(f"not a comma-separated table: {error}", where=str(path)) from None


def check_width(row: Sequence[str], header: Sequence[str], where: str) -> None:
    """Raise `CorruptData` unless a row has as many cells as the header."""
    if len(row) != len(header):
        raise CorruptData(
            f"{counted(len(row), 'cell')} instead of {len(header)}",
            where=where,
            todo="give every line the header's columns",
        )


def table_of(path: Path, *columns: Sequence[str], optional: Sequence[str] = ()) -> list[TableLine]:
    """The lines of a table that has all columns of one of these lists, in any order, and optional ones if any."""
    rows = list(rows_of(path))
    header = rows[0][1] if rows else []
    needed = [name for name in header if name not in optional]
    if len(set(header)) < len(header) or sorted(needed) not in map(sorted, columns):
        raise CorruptData(
            f"the columns are {', '.join(header) or 'none'}",
            where=f"{path}: line 1",
            todo="name them "
            + ", or ".join(", ".join(names) for names in columns)
            + (f", and if wanted {', '.join(optional)}" if optional else ""),
        )
    for line, cells in rows[1:]:
        check_width(cells, header, f"{path}: line {line}")
    return [TableLine(dict(zip(header, cells, strict=True)), f"{path}: line {line}") for line, cells in rows[1:]]


def check_once(keys: Iterable[tuple[TableLine, str]], what: str) -> None:
    """Raise `CorruptData` if two lines have one key."""
    lines: dict[str, TableLine] = {}
    for row, key in keys:
        if key in lines:
            before = lines[key].where.rpartition(": ")[2]
            raise row.refused(f"{what.format(key)} is also in {before}", "keep one of the lines")
        lines[key] = row
