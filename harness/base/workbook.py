"""Workbooks of spreadsheet programs (.xlsx): typed cells, frozen header rows, the same bytes for the same content.

What is written is the small part of ECMA-376 that tables need: no formulas, no shared texts, no dates.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from harness.base.errors import UsageError

Cell = str | int | float | bool | None

# what spreadsheet programs can hold
MOST_ROWS = 1 << 20
_LONGEST_TEXT = 32767
# XML can't hold these; ECMA-376 writes them by their numbers, and a text that looks so with a number for its `_`
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_NO_NAME = re.compile(r"[][*?:/\\]")
_TIME = (1980, 1, 1, 0, 0, 0)
_WIDEST = 60
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
# the second format is bold, for headers; the third wraps long texts
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill>'
    '<patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1">'
    '<alignment vertical="top" wrapText="1"/></xf></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
_HEADER, _WRAPPED = ' s="1"', ' s="2"'


@dataclass(frozen=True)
class Worksheet:
    """A sheet: a header that stays in view, and rows below it."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    # whether long texts go on in further lines of their cell
    wrapped: bool = False


def workbook_bytes(sheets: Sequence[Worksheet]) -> bytes:
    """The file. Numbers are numbers, and texts are texts, never formulas."""
    for sheet in sheets:
        if len(sheet.rows) >= MOST_ROWS:
            raise UsageError(
                f"{len(sheet.rows)} rows are more than a spreadsheet holds",
                where=f"sheet '{sheet.name}'",
                todo=f"take fewer than {MOST_ROWS} rows, or write .csv or .parquet",
            )
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": _content_types(numbers),
        "_rels/.rels": _relations([f"{_DOCUMENT}/officeDocument"], ["xl/workbook.xml"]),
        "xl/workbook.xml": _workbook(sheets),
        "xl/_rels/workbook.xml.rels": _relations(
            [*(f"{_DOCUMENT}/worksheet" for _ in numbers), f"{_DOCUMENT}/styles"],
            [*(f"worksheets/sheet{number}.xml" for number in numbers), "styles.xml"],
        ),
        "xl/styles.xml": _STYLES,
        **{f"xl/worksheets/sheet{number}.xml": _worksheet(sheets[number - 1]) for number in numbers},
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (_HEAD + text).encode(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _content_types(numbers: Iterable[int]) -> str:
    parts = {"xl/workbook.xml": "sheet.main", "xl/styles.xml": "styles"}
    parts |= {f"xl/worksheets/sheet{number}.xml": "worksheet" for number in numbers}
    overrides = (f'<Override PartName="/{one}" ContentType="{_TYPE}.{kind}+xml"/>' for one, kind in parts.items())
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{"".join(overrides)}</Types>'
    )


def _relations(kinds: Sequence[str], targets: Sequence[str]) -> str:
    entries = (
        f'<Relationship Id="rId{number}" Type="{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(zip(kinds, targets, strict=True), 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(entries)}</Relationships>'


def _workbook(sheets: Sequence[Worksheet]) -> str:
    entries = (
        f'<sheet name={quoteattr(_NO_NAME.sub("-", sheet.name)[:31])} sheetId="{number}" r:id="rId{number}"/>'
        for number, sheet in enumerate(sheets, 1)
    )
    return f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>{"".join(entries)}</sheets></workbook>'


def _worksheet(sheet: Worksheet) -> str:
    columns = range(len(sheet.header))
    widths = [
        min(_WIDEST, 2 + max([len(sheet.header[one]), *(len(_shown(row[one])) for row in sheet.rows)]))
        for one in columns
    ]
    cols = (f'<col min="{one + 1}" max="{one + 1}" width="{widths[one]}" customWidth="1"/>' for one in columns)
    pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    style = _WRAPPED if sheet.wrapped else ""
    rows = (_row(number, row, style) for number, row in enumerate(sheet.rows, 2))
    return (
        f'<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">{pane}</sheetView></sheetViews>'
        f"<cols>{''.join(cols)}</cols><sheetData>{_row(1, sheet.header, _HEADER)}{''.join(rows)}</sheetData>"
        "</worksheet>"
    )


def _row(number: int, cells: Sequence[Cell], style: str) -> str:
    texts = (_cell(f"{_letters(column)}{number}", cell, style) for column, cell in enumerate(cells))
    return f'<row r="{number}">{"".join(texts)}</row>'


def _cell(place: str, cell: Cell, style: str) -> str:
    """One cell; what is no finite number can't be a number there, and is written as a text."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}"{style} t="b"><v>{cell:d}</v></c>'
    if isinstance(cell, int | float) and math.isfinite(cell):
        return f'<c r="{place}"{style}><v>{cell!r}</v></c>'
    text = str(cell)
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT - 1]}…"
    text = escape(_UNWRITABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text))
    return f'<c r="{place}"{style} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _shown(cell: Cell) -> str:
    """About what a program shows of a cell."""
    return f"{cell:.10g}" if isinstance(cell, float) else str(cell)


def _letters(column: int) -> str:
    """The name of a column: A to Z, AA and so on."""
    text = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        text = chr(ord("A") + letter) + text
    return text
