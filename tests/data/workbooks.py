"""Workbooks written part by part, as programs write them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def write_workbook(path: Path, sheets: Mapping[str, str], *, texts: str = "", styles: str = "") -> Path:
    """A workbook of sheets, each the XML of its rows; `texts` are the entries of its shared texts."""
    names = enumerate(sheets, start=1)
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{_RELATIONS}"><sheets>'
        + "".join(f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>' for n, name in names)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">'
        + "".join(
            f'<Relationship Id="rId{n}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n, _ in enumerate(sheets, start=1)
        )
        + "</Relationships>",
    }
    for number, rows in enumerate(sheets.values(), start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        )
    if texts:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{texts}</sst>'
    if styles:
        parts["xl/styles.xml"] = f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return path


def rows_xml(rows: Sequence[Sequence[str | float]]) -> str:
    """The XML of rows: numbers as numbers, texts inline, empty cells left out."""
    return "".join(
        f'<row r="{line}">'
        + "".join(
            f'<c r="{letters(column)}{line}"><v>{cell}</v></c>'
            if isinstance(cell, (int, float))
            else f'<c r="{letters(column)}{line}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
            for column, cell in enumerate(row)
            if cell != ""
        )
        + "</row>"
        for line, row in enumerate(rows, start=1)
    )


def letters(column: int) -> str:
    """The letters of a column, from 0: A, Z, AA."""
    return ("" if column < 26 else letters(column // 26 - 1)) + chr(ord("A") + column % 26)
