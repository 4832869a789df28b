"""Dates by their formats, cells by their places, sheets by their kinds: as spreadsheet programs write them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from harness.base import sheets as module
from harness.base.errors import CorruptData
from harness.base.sheets import START, Line, sheet_lines
from tests.core.word_for_word import said
from tests.data.workbooks import rows_xml, write_workbook


def read(path: Path, rows: str, *, texts: str = "", styles: str = "") -> list[Line]:
    """The lines of a sheet."""
    return sheet_lines(write_workbook(path / "book.xlsx", {"one": rows}, texts=texts, styles=styles))


def is_date(path: Path, number: int, code: str = "") -> bool:
    """Whether a number in this format is refused as a date."""
    written = f'<numFmts><numFmt numFmtId="{number}" formatCode="{code}"/></numFmts>' if code else ""
    styles = f'{written}<cellXfs><xf/><xf numFmtId="{number}"/></cellXfs>'
    try:
        return read(path, '<row><c s="1"><v>7</v></c></row>', styles=styles) != [(1, ["7"])]
    except CorruptData as error:
        assert "a date, which a spreadsheet program may have made of a name or a number" in error.what
        assert error.todo == "format the cell as text, and write what is meant"
        return True


def test_formats_that_every_program_knows_are_dates_by_their_numbers(tmp_path: Path) -> None:
    dates = [number for number in range(62) if is_date(tmp_path, number)]
    assert dates == [*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("yyyy", True), ("D", True), ("h", True), ("MM", True), ("ss", True),
        ("0.00", False), ("General", False), ("General\\d", False), ("[Red]0", False), ("0\\d", False),
        ("&quot;day&quot;0", False), ("&quot;n&quot;yy", True), ("[$-409]d", True), ("@", False),
        # a space as wide as that letter
        ("General_d", False), ("GENERAL_s", False), ("0_d", False), ("#,##0_);(0_s)", False),
        # a cell that is filled up with that letter
        ("0*h", False), ("0* h", True),
    ],
)  # fmt: skip
def test_a_written_format_is_a_date_by_its_letters(tmp_path: Path, code: str, expected: bool) -> None:
    assert is_date(tmp_path, 164, code) is expected


def test_a_format_of_named_styles_is_of_no_cell(tmp_path: Path) -> None:
    styles = (
        '<cellXfs><xf/><xf numFmtId="1"/></cellXfs><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
        '<dxfs><xf numFmtId="14"/></dxfs>'
    )
    rows = '<row><c s="1"><v>7</v></c><c s="2"><v>8</v></c><c t="str" s="1"><v>x</v></c></row>'
    assert read(tmp_path, rows, styles=styles) == [(1, ["7", "8", "x"])]


def test_a_text_in_a_format_of_dates_is_a_text(tmp_path: Path) -> None:
    styles = '<cellXfs><xf numFmtId="14"/></cellXfs>'
    rows = '<row><c s="0" t="str"><v>x</v></c><c s="0" t="b"><v>0</v></c><c s="0"/></row>'
    assert read(tmp_path, rows, styles=styles) == [(1, ["x", "FALSE"])]
    with pytest.raises(CorruptData, match="a date"):
        read(tmp_path, "<row><c><v>7</v></c></row>", styles=styles)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("9007199254740991.0", "9007199254740991"),
        ("9007199254740992.0", "9007199254740992.0"),
        ("-9007199254740991.0", "-9007199254740991"),
        ("-1E20", "-1E20"),
        ("4.2E1", "42"),
        ("0.5", "0.5"),
        ("-0", "0"),
    ],
)
def test_a_number_is_shown_as_a_person_writes_it(tmp_path: Path, value: str, shown: str) -> None:
    assert read(tmp_path, f"<row><c><v>{value}</v></c></row>") == [(1, [shown])]


def test_rows_and_cells_without_a_place_follow_each_other(tmp_path: Path) -> None:
    rows = (
        '<row><c><v>1</v></c><c/><c><v>3</v></c></row><row r="4"><c r="B4"><v>4</v></c><c><v>5</v></c></row>'
        '<row/><row><c><v>6</v></c></row><row r="9"><c r="A12"><v>7</v></c></row>'
    )
    assert read(tmp_path, rows) == [
        (1, ["1", "", "3"]),
        (4, ["", "4", "5"]),
        (6, ["6", "", ""]),
        (12, ["7", "", ""]),
    ]


def test_a_later_row_may_be_longer_than_the_first(tmp_path: Path) -> None:
    assert read(tmp_path, rows_xml([["a", "b"], ["c", "d", "e"], ["f"]])) == [
        (1, ["a", "b"]),
        (2, ["c", "d", "e"]),
        (3, ["f", ""]),
    ]
    assert read(tmp_path, "<row/>") == []


def test_texts_are_put_together_without_what_tells_how_they_sound(tmp_path: Path) -> None:
    texts = (
        "<si><rPh><t>aside</t></rPh><r><t>a</t></r><rPh><t>aside</t></rPh><r><t>b_x0042_</t></r></si>"
        "<si>between<t>c_x00e9_</t>between</si><si/><si><t> d </t></si>"
    )
    rows = (
        '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c><c t="s"><v>3</v></c>'
        '<c t="inlineStr"><is><r><t>e</t></r><rPh><t>aside</t></rPh><r><t>f</t></r></is></c>'
        '<c t="inlineStr"><is><t>g_x0041_</t></is></c></row>'
    )
    assert read(tmp_path, rows, texts=texts) == [(1, ["abB", "cé", "", "d", "ef", "gA"])]


def test_a_formula_of_one_cell_is_not_of_the_next_and_one_without_a_value_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, "<row><c><f>A1</f><v>1</v></c><c/><c><v>2</v></c></row>") == [(1, ["1", "", "2"])]
    # of `=IF(C2="","",C2)` the value is an empty text
    empty = '<c t="str"><f>A1</f><v></v></c>'
    assert read(tmp_path, f"<row>{empty}<c><v>2</v></c>{empty}<c><v>3</v></c></row>") == [(1, ["", "2", "", "3"])]
    # what a program adds behind the value takes nothing from it
    added = empty.replace("</c>", "<extLst><ext/></extLst></c>")
    assert read(tmp_path, f"<row>{added}<c><v>2</v></c></row>") == [(1, ["", "2"])]
    for never in ('<c t="str"><f>A1</f></c>', "<c><f>A1</f><v></v></c>"):
        with pytest.raises(CorruptData, match="a formula without its value"):
            read(tmp_path, f"<row>{empty}{never}</row>")
    with pytest.raises(CorruptData) as refused:
        read(tmp_path, '<row r="3"><c><v>1</v></c><c><f>A1</f></c></row>')
    assert (refused.value.what, refused.value.todo) == (
        "the cell holds a formula without its value",
        "open and save the workbook in a spreadsheet program",
    )
    assert refused.value.where == f"{tmp_path / 'book.xlsx'}: line 3, cell column 2"


@pytest.mark.parametrize("error", ["#N/A", "#REF!", "#DIV/0!"])
def test_an_error_is_no_name(tmp_path: Path, error: str) -> None:
    with pytest.raises(CorruptData) as refused:
        read(tmp_path, f'<row><c><v>1</v></c><c r="B1" t="e"><f>A9</f><v>{error}</v></c></row>')
    assert said(refused.value) == (
        f"the cell holds the error {error}",
        f"{tmp_path / 'book.xlsx'}: line 1, cell B1",
        "correct the formula, or empty the cell",
    )


@pytest.mark.parametrize(("most", "fits"), [(6, True), (5, False)])
def test_as_many_cells_as_a_sheet_may_have_are_read(
    tmp_path: Path, most: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_CELLS", most)
    for rows in (
        # filled one after the other, and all at once by the last
        "<row><c><v>1</v></c><c><v>2</v></c></row><row><c/><c><v>4</v></c></row><row><c/><c><v>6</v></c></row>",
        # as long as the first one
        "<row><c/><c/><c><v>1</v></c></row><row><c><v>2</v></c></row>",
    ):
        if fits:
            assert len(read(tmp_path, rows)) in (2, 3)
            continue
        with pytest.raises(CorruptData, match=f"not a workbook: it has more than {most} cells"):
            read(tmp_path, rows)


def test_cells_that_come_again_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CELLS", 3)
    rows = '<row r="1"><c r="C1"><v>1</v></c><c r="A1"><v>2</v></c><c r="C1"><v>3</v></c></row>'
    assert read(tmp_path, rows) == [(1, ["2", "", "3"])]


def _with_parts(path: Path, changes: dict[str, tuple[str, str]], left_out: str = "") -> Path:
    book = write_workbook(path / "plain.xlsx", {"one": rows_xml([["a"]]), "two": rows_xml([["b"]])})
    changed = path / "book.xlsx"
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(changed, "w") as new:
        for part in old.namelist():
            text = old.read(part).decode()
            if part in changes:
                assert changes[part][0] in text
                text = text.replace(*changes[part])
            if part != left_out:
                new.writestr(part, text)
    return changed


def test_a_chart_is_no_sheet(tmp_path: Path) -> None:
    chart = _with_parts(
        tmp_path,
        {"xl/_rels/workbook.xml.rels": ('/worksheet" Target="worksheets/sheet1', '/chartsheet" Target="chart1')},
    )
    assert sheet_lines(chart) == [(1, ["b"])]
    with pytest.raises(CorruptData, match="there is no sheet 'one'") as refused:
        sheet_lines(chart, "one")
    assert (refused.value.where, refused.value.todo) == (str(chart), "name one of 'two'")


@pytest.mark.parametrize("target", ["/xl/worksheets/sheet2.xml", "../xl/worksheets/sheet2.xml"])
def test_a_sheet_is_found_wherever_its_target_leads(tmp_path: Path, target: str) -> None:
    book = _with_parts(tmp_path, {"xl/_rels/workbook.xml.rels": ("worksheets/sheet2.xml", target)})
    assert sheet_lines(book, "two") == [(1, ["b"])]


def test_a_part_that_is_missing_makes_no_workbook(tmp_path: Path) -> None:
    book = _with_parts(tmp_path, {}, left_out="xl/worksheets/sheet1.xml")
    assert book.read_bytes().startswith(START)
    with pytest.raises(CorruptData, match=r"^not a workbook: ") as refused:
        sheet_lines(book)
    assert (refused.value.where, refused.value.todo) == (str(book), "save it as .xlsx in a spreadsheet program")
    book.write_bytes(START)
    with pytest.raises(CorruptData, match=r"^not a workbook: "):
        sheet_lines(book)
