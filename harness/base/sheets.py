"""Sheets of a workbook (.xlsx) as rows of texts, read with the standard library and within bounds.

A workbook is a zip file of XML. What it may not do: unpack to more than a bound, declare entities, hold a date
where a name or a number is meant.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import join, normpath
from xml.parsers import expat

from harness.base.errors import CorruptData
from harness.base.faults import all_faults
from harness.base.zips import UNREADABLE, member

START = b"PK\x03\x04"
_MOST_BYTES = 256 << 20
# Cells that are filled or lie before a filled one in their row.
_MOST_CELLS = 20_000_000
_MOST_COLUMNS = 16_384
_BOOK = "xl/workbook.xml"
_CELL = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
# formats of dates and times that every program knows by number, and letters that make one of a written format
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_QUOTED = re.compile(r'"[^"]*"|[\\_*].|\[[^\]]*\]')
_EXACT_BELOW = 2**53

Attributes = Mapping[str, str]
# a line's number in its sheet, and its cells
Line = tuple[int, list[str]]


def sheet_lines(path: Path, sheet: str = "") -> list[Line]:
    """The lines of a sheet that are not empty: of the first one, where none is named."""
    try:
        with zipfile.ZipFile(path) as archive:
            book = _Book(archive)
            content = book.content(_part(book, sheet, path))
            reader = _SheetReader(path, book.texts(), book.date_styles())
            _parse(content, reader.start, reader.end, reader.text)
    except (*UNREADABLE, KeyError, ValueError, IndexError, expat.ExpatError) as error:
        raise CorruptData(
            f"not a workbook: {error}", where=str(path), todo="save it as .xlsx in a spreadsheet program"
        ) from None
    return reader.lines()


def _part(book: _Book, sheet: str, path: Path) -> str:
    """The part of the workbook that holds the sheet."""
    sheets = book.sheets()
    if sheet and sheet not in sheets:
        names = ", ".join(f"'{name}'" for name in sheets)
        raise CorruptData(f"there is no sheet '{sheet}'", where=str(path), todo=f"name one of {names}")
    return sheets[sheet] if sheet else next(iter(sheets.values()))


def _parse(
    content: bytes,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda _: None,
    text: Callable[[str], None] = lambda _: None,
) -> None:
    """Read XML; names come without their namespaces. A document type, which could declare entities, is refused."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_declarations
    parser.StartElementHandler = lambda name, attributes: start(
        _local(name), {_local(key): value for key, value in attributes.items()}
    )
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = text
    parser.Parse(content, True)


def _refuse_declarations(*_: object) -> None:
    raise ValueError("it declares a document type")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


class _Book:
    """The parts of a workbook."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def content(self, part: str) -> bytes:
        """The bytes of a part."""
        return member(self._archive, part, most_bytes=_MOST_BYTES)

    def sheets(self) -> dict[str, str]:
        """The sheets in their order: their names, and the parts that hold them."""
        ids: dict[str, str] = {}
        targets: dict[str, str] = {}

        def sheet(name: str, attributes: Attributes) -> None:
            if name == "sheet":
                ids[attributes["name"]] = attributes["id"]

        def relation(name: str, attributes: Attributes) -> None:
            if name == "Relationship" and attributes["Type"].endswith("/worksheet"):
                targets[attributes["Id"]] = normpath(join("/xl", attributes["Target"])).lstrip("/")

        _parse(self.content(_BOOK), sheet)
        _parse(self.content("xl/_rels/workbook.xml.rels"), relation)
        # others show a chart
        found = {name: targets[one] for name, one in ids.items() if one in targets}
        if not found:
            raise ValueError("it has no sheet")
        return found

    def texts(self) -> list[str]:
        """Texts that cells name by number."""
        if (part := "xl/sharedStrings.xml") not in self._archive.namelist():
            return []
        texts: list[str] = []
        reading = _TextReader()

        def start(name: str, attributes: Attributes) -> None:
            if name == "si":
                reading.begin()
            reading.start(name)

        def end(name: str) -> None:
            reading.end(name)
            if name == "si":
                texts.append(reading.whole)

        _parse(self.content(part), start, end, reading.text)
        return texts

    def date_styles(self) -> set[int]:
        """The numbers of the styles that show a number as a date or a time."""
        if (part := "xl/styles.xml") not in self._archive.namelist():
            return set()
        written: dict[int, str] = {}
        formats: list[int] = []
        inside = [False]

        def start(name: str, attributes: Attributes) -> None:
            if name == "numFmt":
                written[int(attributes["numFmtId"])] = attributes["formatCode"]
            elif name == "cellXfs":
                inside[0] = True
            elif name == "xf" and inside[0]:
                formats.append(int(attributes.get("numFmtId", 0)))

        def end(name: str) -> None:
            inside[0] = inside[0] and name != "cellXfs"

        _parse(self.content(part), start, end)
        dates = _DATES | {number for number, code in written.items() if _is_date(code)}
        return {style for style, number in enumerate(formats) if number in dates}


def _is_date(code: str) -> bool:
    """Whether a format has letters of a date: not in quotes, for spaces or fillings, in colours or conditions."""
    return bool(re.search("[dmyhs]", _QUOTED.sub("", code), re.IGNORECASE)) and "general" not in code.lower()


@dataclass
class _TextReader:
    """Puts the pieces of a text together; how it is pronounced (`rPh`) is no part of it."""

    whole: str = ""
    _pieces: list[str] = field(default_factory=list)
    _in_text: bool = False
    _aside: bool = False

    def begin(self) -> None:
        self._pieces, self._aside = [], False

    def start(self, name: str) -> None:
        self._aside = self._aside or name == "rPh"
        self._in_text = name == "t" and not self._aside

    def text(self, piece: str) -> None:
        if self._in_text:
            self._pieces.append(piece)

    def end(self, name: str) -> None:
        self._in_text = False
        self._aside = self._aside and name != "rPh"
        self.whole = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), "".join(self._pieces))


class _SheetReader:
    """Takes the elements of a sheet; `lines` gives its rows, or all cells that can't be read."""

    def __init__(self, path: Path, texts: list[str], dates: set[int]) -> None:
        self._path, self._texts, self._dates = path, texts, dates
        self._rows: dict[int, dict[int, str]] = {}
        self._refused: list[CorruptData] = []
        self._row = self._column = self._cells = 0
        self._attributes: Attributes = {}
        self._value: list[str] = []
        self._in_value = self._has_value = self._has_formula = False
        self._inline = _TextReader()

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
        elif name == "c":
            self._begin(attributes)
        elif name == "f":
            self._has_formula = True
        self._in_value = name == "v"
        self._has_value = self._has_value or self._in_value
        self._inline.start(name)

    def _begin(self, attributes: Attributes) -> None:
        self._attributes, self._value, self._has_value, self._has_formula = attributes, [], False, False
        self._inline.begin()
        self._column += 1
        if match := _CELL.fullmatch(attributes.get("r", "")):
            self._column, self._row = _number_of(match[1]), int(match[2])
        if self._column > _MOST_COLUMNS:
            raise ValueError(f"it has more than {_MOST_COLUMNS} columns")

    def text(self, piece: str) -> None:
        if self._in_value:
            self._value.append(piece)
        self._inline.text(piece)

    def end(self, name: str) -> None:
        self._in_value = False
        self._inline.end(name)
        if name == "c" and (text := self._cell().strip()):
            row = self._rows.setdefault(self._row, {})
            # a row is as long as its last filled cell
            self._cells += max(0, self._column - max(row, default=0))
            if self._cells > _MOST_CELLS:
                raise ValueError(f"it has more than {_MOST_CELLS} cells")
            row[self._column] = text

    def _cell(self) -> str:
        kind, value = self._attributes.get("t", "n"), "".join(self._value)
        if kind == "inlineStr":
            return self._inline.whole
        if not value:
            # the value of one may be an empty text
            if self._has_formula and not (kind == "str" and self._has_value):
                self._refuse("a formula without its value", "open and save the workbook in a spreadsheet program")
            return ""
        if kind == "s":
            return self._texts[int(value)]
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind == "e":
            self._refuse(f"the error {value}", "correct the formula, or empty the cell")
        if kind == "d" or (kind == "n" and int(self._attributes.get("s", 0)) in self._dates):
            self._refuse(
                "a date, which a spreadsheet program may have made of a name or a number",
                "format the cell as text, and write what is meant",
            )
        return _plain(value) if kind == "n" else value

    def _refuse(self, what: str, todo: str) -> None:
        column = self._attributes.get("r") or f"column {self._column}"
        where = f"{self._path}: line {self._row}, cell {column}"
        self._refused.append(CorruptData(f"the cell holds {what}", where=where, todo=todo))

    def lines(self) -> list[Line]:
        """Every row that is not empty. All are as long as the first, but for those that are longer."""
        with all_faults() as faults:
            for error in self._refused:
                faults.add(error)
        rows = sorted(self._rows.items())
        width = max(rows[0][1]) if rows else 0
        if width * len(rows) > _MOST_CELLS:
            what = f"not a workbook: it has more than {_MOST_CELLS} cells"
            raise CorruptData(what, where=str(self._path), todo="give a smaller one")
        return [
            (number, [row.get(column, "") for column in range(1, max(width, *row) + 1)]) for number, row in rows
        ]


def _number_of(letters: str) -> int:
    """The number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _plain(value: str) -> str:
    """A number as a person writes it: 42, not 42.0 or 4.2E1."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < _EXACT_BELOW else value
