"""Dates of approval from the released workbook, which is read as a zip of XML: that needs no library."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from harness.base.errors import CorruptData
from harness.base.zips import UNREADABLE, member

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DRUG, _DATE = "A", "D"


def approvals_in(path: Path) -> dict[str, str]:
    """What the workbook says of each DrugBank accession: a date year/month/day, or words."""
    try:
        with zipfile.ZipFile(path) as book:
            texts = [
                "".join(piece.text or "" for piece in entry.iter(f"{_SHEET}t"))
                for entry in ElementTree.fromstring(member(book, "xl/sharedStrings.xml")).iter(f"{_SHEET}si")
            ]
            sheet = ElementTree.fromstring(member(book, "xl/worksheets/sheet1.xml"))
    except (*UNREADABLE, KeyError, ElementTree.ParseError) as error:
        raise CorruptData(f"not a workbook: {error}", where=str(path), todo="restore the original file") from None
    rows = list(_rows(sheet, texts))
    return {row[_DRUG]: row[_DATE].strip() for row in rows[1:] if _DRUG in row and _DATE in row}


def _rows(sheet: ElementTree.Element, texts: list[str]) -> Iterator[dict[str, str]]:
    """Cells by column letter."""
    for row in sheet.iter(f"{_SHEET}row"):
        cells = {}
        for cell in row.iter(f"{_SHEET}c"):
            text = cell.findtext(f"{_SHEET}v") or ""
            column = cell.get("r", "").rstrip("0123456789")
            cells[column] = texts[int(text)] if cell.get("t") == "s" else text
        yield cells
