"""A cell of a workbook must be the text that a person sees in it, or be refused, as a hostile workbook is."""

from __future__ import annotations

import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base import sheets as module
from harness.base.errors import CorruptData
from harness.base.sheets import sheet_lines
from tests.data.workbooks import letters, rows_xml, write_workbook

CELL = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=8).map(str.strip),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: round(number, 3)),
)


@given(st.lists(st.lists(CELL, min_size=1, max_size=5), min_size=1, max_size=6))
def test_rows_are_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str | float]]
) -> None:
    path = write_workbook(tmp_path_factory.mktemp("book") / "book.xlsx", {"one": rows_xml(rows)})
    filled = {
        line: [_shown(cell) for cell in row] for line, row in enumerate(rows, start=1) if any(map(_shown, row))
    }
    read = dict(sheet_lines(path))
    assert list(read) == list(filled)
    for line, cells in filled.items():
        own, width = read[line], max(len(read[line]), len(cells))
        assert [*own, *[""] * (width - len(own))] == [*cells, *[""] * (width - len(cells))]


def _shown(cell: str | float) -> str:
    """42.0 is shown as 42; a text stays as it is."""
    return cell if isinstance(cell, str) else str(int(cell)) if cell == int(cell) else str(cell)


@pytest.mark.parametrize("column", [0, 1, 25, 26, 51, 52, 701, 702, 16_383])
def test_columns_are_told_by_their_letters(tmp_path: Path, column: int) -> None:
    row = f'<row r="7"><c r="{letters(column)}7"><v>1</v></c></row>'
    ((line, cells),) = sheet_lines(write_workbook(tmp_path / "book.xlsx", {"one": row}))
    assert (line, len(cells), cells[-1]) == (7, column + 1, "1")


def test_cells_of_every_kind_are_texts(tmp_path: Path) -> None:
    texts = (
        "<si><t>plain</t></si><si><r><t>two </t></r><r><t>runs</t></r></si>"
        "<si><t>Ny</t><rPh><t>aside</t></rPh></si><si><t>a_x0041_</t></si>"
    )
    row = (
        '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c><c t="s"><v>3</v></c>'
        '<c t="str"><f>A1</f><v>made</v></c><c t="b"><v>1</v></c><c t="b"><v>0</v></c><c><v>1.0</v></c>'
        "<c><v>1E-3</v></c><c><f>1+1</f><v>2</v></c></row>"
    )
    ((_, cells),) = sheet_lines(write_workbook(tmp_path / "book.xlsx", {"one": row}, texts=texts))
    assert cells == ["plain", "two runs", "Ny", "aA", "made", "TRUE", "FALSE", "1", "1E-3", "2"]


def test_the_first_sheet_is_taken_or_the_one_that_is_named(tmp_path: Path) -> None:
    book = write_workbook(tmp_path / "book.xlsx", {"B": rows_xml([["b"]]), "A & Ω": rows_xml([["a"]])})
    assert sheet_lines(book) == [(1, ["b"])]
    assert sheet_lines(book, "A & Ω") == [(1, ["a"])]
    with pytest.raises(CorruptData, match=r"there is no sheet 'C'\n.*\n.*'B', 'A & Ω'"):
        sheet_lines(book, "C")


STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/>'
    '<numFmt numFmtId="165" formatCode="0.0&quot;d&quot;"/></numFmts>'
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>'
)


@pytest.mark.parametrize(("style", "is_date"), [(0, False), (1, True), (2, True), (3, False)])
def test_a_date_is_refused_and_a_number_is_not(tmp_path: Path, style: int, is_date: bool) -> None:
    row = f'<row r="3"><c r="B3" s="{style}"><v>44000</v></c></row>'
    book = write_workbook(tmp_path / "book.xlsx", {"one": row}, styles=STYLES)
    if not is_date:
        assert sheet_lines(book) == [(3, ["", "44000"])]
        return
    with pytest.raises(
        CorruptData, match=r"the cell holds a date.*\n  where: .*book.xlsx: line 3, cell B3\n.*text"
    ):
        sheet_lines(book)


def test_all_cells_that_can_not_be_read_are_told(tmp_path: Path) -> None:
    row = '<row r="1"><c r="A1" t="d"><v>2020-01-01</v></c><c r="C1"><f>NOW()</f></c><c r="D1"><v>1</v></c></row>'
    with pytest.raises(CorruptData, match=r"2 faults\n(.|\n)*cell A1: (.|\n)*a date(.|\n)*cell C1: .*a formula"):
        sheet_lines(write_workbook(tmp_path / "book.xlsx", {"one": row}))


def _with_part(path: Path, name: str, content: str) -> Path:
    book = write_workbook(path / "plain.xlsx", {"one": rows_xml([["a"]])}, texts="<si><t>a</t></si>")
    changed = path / "book.xlsx"
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return changed


LAUGHS = '<!DOCTYPE x [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;">]><sst><si><t>&b;</t></si></sst>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><sst><si><t>&a;</t></si></sst>'


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("xl/sharedStrings.xml", LAUGHS, "declares a document type"),
        ("xl/sharedStrings.xml", OUTSIDE, "declares a document type"),
        ("xl/worksheets/sheet1.xml", "<worksheet><sheetData><row", "not a workbook"),
        ("xl/worksheets/sheet1.xml", '<w><c r="XFE1"><v>1</v></c></w>', "more than 16384 columns"),
        ("xl/worksheets/sheet1.xml", '<w><c t="s"><v>9</v></c></w>', "not a workbook"),
        ("xl/worksheets/sheet1.xml", '<w><c t="s"><v>many</v></c></w>', "not a workbook"),
        ("xl/workbook.xml", "<workbook/>", "it has no sheet"),
    ],
)
def test_a_broken_or_hostile_workbook_is_refused(tmp_path: Path, part: str, content: str, message: str) -> None:
    with pytest.raises(CorruptData, match=message) as caught:
        sheet_lines(_with_part(tmp_path, part, content))
    assert caught.value.where == str(tmp_path / "book.xlsx")


def test_a_workbook_that_unpacks_to_too_much_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 1 << 20)
    book = _with_part(tmp_path, "xl/worksheets/sheet1.xml", "<w/>" + " " * (32 << 20))
    tracemalloc.start()
    with pytest.raises(CorruptData, match="unpacks to"):
        sheet_lines(book)
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "cells",
    [["ZZ1", "ZZ2"], ["A1", "ZZ2", "ZZ3"], ["C1", *(f"A{line}" for line in range(2, 600))]],
    ids=["all far", "the first near", "the first the longest"],
)
def test_far_cells_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: list[str]
) -> None:
    monkeypatch.setattr(module, "_MOST_CELLS", 1000)
    rows = "".join(f'<row><c r="{cell}"><v>1</v></c></row>' for cell in cells)
    with pytest.raises(CorruptData, match="more than 1000 cells"):
        sheet_lines(write_workbook(tmp_path / "book.xlsx", {"one": rows}))
