"""Tables that a person made: separated by commas, semicolons or tabs, packed or not, or a sheet of a workbook.

Rows come with their line numbers, and faults name file and line. Texts are in Unicode's composed form (NFC): names
that look the same are the same.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from harness.base.errors import CorruptData, ManifestError
from harness.base.faults import Faults
from harness.base.few import few_in_line
from harness.base.plurals import counted
from harness.base.sheets import START, Line, sheet_lines

_GZIP, _OLD_WORKBOOK = b"\x1f\x8b", b"\xd0\xcf\x11\xe0"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_BYTES = 1 << 30
# The column that tells training from test, where a table may have one, and what people call it.
_PART, _NAMES_OF_PART = "part", frozenset({"split", "set", "fold", "subset"})
# The first wins where two fit alike. Commas in numbers are decimal where they separate nothing.
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons"}
_LOOK_LINES = 20
# as many columns as a message names
_FEW_COLUMNS = 12
_LONGEST_CELL = csv.field_size_limit()
_WITH_POINT, _WITH_COMMA = (re.compile(rf"[+-]?\d*{mark}\d+(?:[eE][+-]?\d+)?") for mark in (r"\.", ","))
# stands between a workbook and the name of a sheet
_SHEET = re.compile(r"\.xlsx#(?=.)", re.IGNORECASE)


@dataclass(frozen=True)
class TableFile:
    """A file with a table, and the sheet that holds it; without one, the first of a workbook."""

    path: Path
    sheet: str = ""

    def __str__(self) -> str:
        return f"{self.path}, sheet '{self.sheet}'" if self.sheet else str(self.path)


def split_sheet(name: str) -> tuple[str, str]:
    """The file and the sheet of `file.xlsx#sheet`."""
    match = _SHEET.search(name)
    return (name[: match.end() - 1], name[match.end() :]) if match else (name, "")


def listed_table(name: str, files: Mapping[str, Path], dataset: str) -> TableFile:
    """The table that a converter's parameter names, among the files of a manifest."""
    file, sheet = split_sheet(name)
    if file not in files:
        raise ManifestError(
            f"the file '{file}' is not listed",
            where=f"{dataset}/dataset.toml: files",
            todo="list the tables under [[files]]",
        )
    return TableFile(files[file], sheet)


@dataclass(frozen=True)
class TableLine:
    """The cells of a line by column, and where it is."""

    cells: Mapping[str, str]
    where: str
    table: RawTable

    def refused(self, what: str, todo: str) -> CorruptData:
        """The error for a line that can't be used."""
        return CorruptData(what, where=self.where, todo=todo)

    def check_full(self, *columns: str) -> None:
        """Raise `CorruptData` if one of these cells is empty."""
        for column in columns:
            if not self.cells[column]:
                raise self.refused(f"the cell of '{column}' is empty", "fill it, or remove the line")

    def number(self, column: str) -> float:
        """The number of a cell; `ValueError` if it is none."""
        return self.table.number(self.cells[column])


@dataclass(frozen=True)
class RawTable:
    """Rows as they were written, the header first, without empty ones."""

    file: TableFile | Path
    lines: Sequence[Line]
    # empty in a workbook, where numbers are no texts
    separator: str

    @property
    def header(self) -> list[str]:
        """The cells of the first line."""
        return self.lines[0][1]

    @property
    def head(self) -> str:
        """Where the header is: empty lines may stand before it."""
        return self.where(self.lines[0][0])

    def where(self, line: int) -> str:
        """Where a line is."""
        return f"{self.file}: line {line}"

    @property
    def columns(self) -> str:
        """What the columns are called: a matrix that was taken for a list may have thousands."""
        return f"the columns are {few_in_line(self.header, _FEW_COLUMNS)}"

    def number(self, cell: str) -> float:
        """The number of a cell; `ValueError` if it is none."""
        if "," in cell and _WITH_COMMA.fullmatch(cell) and self._has_decimal_commas:
            cell = cell.replace(",", ".")
        if "_" in cell:
            raise ValueError("Python's own way to write a number")
        return float(cell)

    @cached_property
    def _has_decimal_commas(self) -> bool:
        """Whether a comma in a number is decimal: it separates nothing, and no number has a point."""
        if self.separator in ("", ","):
            return False
        return not any(_WITH_POINT.fullmatch(cell) for _, row in self.lines[1:] for cell in row)


# Spreadsheet programs may write in the first line what separates cells, for each other.
_TOLD = re.compile(r"sep=([,;\t])(?=\r?\n)", re.IGNORECASE)


def read_table(file: TableFile | Path) -> RawTable:
    """The rows of a table, whatever separates its cells; lines of empty cells are left out."""
    path, sheet = (file.path, file.sheet) if isinstance(file, TableFile) else (file, "")
    content = unpacked(path)
    if content.startswith(START):
        rows, separator = sheet_lines(path, sheet), ""
    else:
        text = _text(content, path)
        if told := _TOLD.match(text):
            # what is left of its line is empty, so that all others keep their numbers
            text = text[told.end() :]
        separator = told[1] if told else _separator(text)
        rows = _rows(text, separator, path)
    lines = [(line, [unicodedata.normalize("NFC", cell.strip()) for cell in row]) for line, row in rows]
    if not (filled := [(line, row) for line, row in lines if any(row)]):
        raise CorruptData(
            "the table is empty", where=str(file), todo="give a line of column names, and lines below it"
        )
    return RawTable(file, filled, separator)


def unpacked(path: Path) -> bytes:
    """The bytes of a file that may be packed by gzip, within bounds."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(len(_GZIP)) == _GZIP
        with gzip.open(path) if packed else path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise CorruptData(f"damaged: {error}", where=str(path), todo="pack it again") from None
    if len(content) > _MOST_BYTES:
        raise CorruptData(
            f"it holds more than {_MOST_BYTES >> 20} MiB", where=str(path), todo="give a smaller one"
        )
    return content


def _text(content: bytes, path: Path) -> str:
    if content.startswith(_OLD_WORKBOOK):
        raise CorruptData(
            "an old workbook, or one with a password",
            where=str(path),
            todo="save it as .xlsx, without a password",
        )
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        # the error counts in its own bytes, which may lack the byte order mark; lines end as those of the table do
        before = error.object[: error.start].decode(encoding)
        raise CorruptData(
            f"not UTF-8: {error.reason}",
            where=f"{path}: line {len([*io.StringIO(before + '?', newline='')])}",
            todo="save the table as UTF-8 (spreadsheet programs: 'CSV UTF-8')",
        ) from None


def _separator(text: str) -> str:
    """What separates cells: with it, most of the first lines have as many cells as the header, more than one.

    One with which every quotation mark has its partner comes before one with which some have none.
    """

    def fit(separator: str, *, strict: bool) -> tuple[int, int]:
        rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict))
        try:
            widths = [len(row) for row in islice(rows, _LOOK_LINES)]
        except csv.Error:
            return 0, 0
        return (widths.count(widths[0]), widths[0]) if widths and widths[0] > 1 else (0, 0)

    return max(_SEPARATORS, key=lambda one: (fit(one, strict=True), fit(one, strict=False)))


def _rows(text: str, separator: str, path: Path) -> list[Line]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise CorruptData(
            f"not a table separated by {_SEPARATORS[separator]}: {error}",
            where=f"{path}: line {reader.line_num}",
            todo=f"give every quotation mark its partner, and no cell more than {_LONGEST_CELL:,} characters",
        ) from None


def check_width(row: Sequence[str], header: Sequence[str], where: str) -> None:
    """Raise `CorruptData` unless a row has as many cells as the header."""
    if len(row) != len(header):
        raise CorruptData(
            f"{counted(len(row), 'cell')} instead of {len(header)}",
            where=where,
            todo="give every line the header's columns",
        )


def without_columns(others: Sequence[str], header: Sequence[str], *, optional: Sequence[str]) -> str:
    """What to do about columns that nothing is read from: a split under another name is not to be thrown away."""
    may_be_one = _PART in optional and _PART not in map(str.lower, header)
    part = next((name for name in others if may_be_one and name.lower() in _NAMES_OF_PART), None)
    left = [name or "the column without a name" for name in others if name != part]
    todo = [f"if {part} tells training from test pairs, name it {_PART}, else leave it out"] if part else []
    return "; ".join([*todo, *([f"leave out {few_in_line(left, _FEW_COLUMNS)}"] if left else [])])


def table_of(
    file: TableFile | Path, *columns: Sequence[str], faults: Faults, optional: Sequence[str] = ()
) -> list[TableLine]:
    """The lines of a table that has all columns of one of these lists, in any order, and optional ones if any.

    Lines that are too long or too short are noted among the faults, and left out.
    """
    table = read_table(file)
    header = [name.lower() for name in table.header]
    needed = [name for name in header if name not in optional]
    if len(set(header)) < len(header) or sorted(needed) not in map(sorted, columns):
        whole = next((names for names in columns if set(names) < set(needed)), None)
        others = [name for name in table.header if whole and name.lower() not in (*whole, *optional)]
        raise CorruptData(
            table.columns,
            where=table.head,
            todo=(f"{without_columns(others, header, optional=optional)}; " if others else "")
            + "name them "
            + ", or ".join(", ".join(names) for names in columns)
            + (f", and if wanted {', '.join(optional)}" if optional else ""),
        )
    lines = []
    for line, cells in table.lines[1:]:
        with faults.noted():
            check_width(cells, header, table.where(line))
            lines.append(TableLine(dict(zip(header, cells, strict=True)), table.where(line), table))
    return lines


def check_once(keys: Iterable[tuple[TableLine, str]], what: str, faults: Faults) -> None:
    """Note a fault for every line whose key an earlier line has."""
    lines: dict[str, TableLine] = {}
    for row, key in keys:
        if key in lines:
            before = lines[key].where.rpartition(": ")[2]
            faults.add(row.refused(f"{what.format(key)} is also in {before}", "keep one of the lines"))
        else:
            lines[key] = row
