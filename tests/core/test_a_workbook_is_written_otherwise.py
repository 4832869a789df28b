"""A spreadsheet program opens what was written: parts are declared as what they are, and dated always alike."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree

import pytest

from harness.base import workbook
from harness.base.errors import UsageError
from harness.base.workbook import Worksheet, workbook_bytes

OOXML = "http://schemas.openxmlformats.org"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


@pytest.fixture(scope="module")
def archive() -> zipfile.ZipFile:
    """A workbook of two sheets."""
    sheets = [Worksheet("one", ["a"], [["x" * 500]]), Worksheet("two", ["b"], [[1]])]
    return zipfile.ZipFile(io.BytesIO(workbook_bytes(sheets)))


def test_its_parts_are_packed_dated_and_readable_always_alike(archive: zipfile.ZipFile) -> None:
    assert archive.namelist() == [
        "[Content_Types].xml",
        "_rels/.rels",
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/styles.xml",
        "xl/worksheets/sheet1.xml",
        "xl/worksheets/sheet2.xml",
    ]
    for entry in archive.infolist():
        assert entry.date_time == (1980, 1, 1, 0, 0, 0) and entry.compress_type == zipfile.ZIP_DEFLATED
        assert entry.external_attr >> 16 == 0o644
        assert archive.read(entry).startswith(b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<')


def test_a_sheet_has_a_name_that_spreadsheets_take() -> None:
    """Of 31 letters at most, without those that stand for something in references."""
    names = ["a[b]*c?d:e/f\\g", f"{'n' * 30}end", "'<&\""]
    sheets = [Worksheet(name, ["a"], []) for name in names]
    whole = zipfile.ZipFile(io.BytesIO(workbook_bytes(sheets)))
    named = ElementTree.fromstring(whole.read("xl/workbook.xml")).iter(f"{{{OOXML}/spreadsheetml/2006/main}}sheet")
    assert [one.get("name") for one in named] == ["a-b--c-d-e-f-g", f"{'n' * 30}e", "'<&\""]


def test_every_part_is_declared_as_what_it_is(archive: zipfile.ZipFile) -> None:
    types = ElementTree.fromstring(archive.read("[Content_Types].xml"))
    assert types.tag == f"{{{OOXML}/package/2006/content-types}}Types"
    assert [(one.get("PartName") or one.get("Extension"), one.get("ContentType")) for one in types] == [
        ("rels", "application/vnd.openxmlformats-package.relationships+xml"),
        ("xml", "application/xml"),
        ("/xl/workbook.xml", f"{TYPE}.sheet.main+xml"),
        ("/xl/styles.xml", f"{TYPE}.styles+xml"),
        ("/xl/worksheets/sheet1.xml", f"{TYPE}.worksheet+xml"),
        ("/xl/worksheets/sheet2.xml", f"{TYPE}.worksheet+xml"),
    ]


@pytest.mark.parametrize(
    ("part", "relations"),
    [
        ("_rels/.rels", [("rId1", "officeDocument", "xl/workbook.xml")]),
        (
            "xl/_rels/workbook.xml.rels",
            [
                ("rId1", "worksheet", "worksheets/sheet1.xml"),
                ("rId2", "worksheet", "worksheets/sheet2.xml"),
                ("rId3", "styles", "styles.xml"),
            ],
        ),
    ],
)
def test_every_part_is_found_from_another(
    archive: zipfile.ZipFile, part: str, relations: list[tuple[str, str, str]]
) -> None:
    root = ElementTree.fromstring(archive.read(part))
    assert root.tag == f"{{{OOXML}/package/2006/relationships}}Relationships"
    kinds = f"{OOXML}/officeDocument/2006/relationships"
    assert [(one.get("Id"), one.get("Type"), one.get("Target")) for one in root] == [
        (number, f"{kinds}/{kind}", target) for number, kind, target in relations
    ]


def test_sheets_and_styles_are_of_the_one_name_space(archive: zipfile.ZipFile) -> None:
    main = f"{OOXML}/spreadsheetml/2006/main"
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    assert book.tag == f"{{{main}}}workbook"
    reference = f"{{{OOXML}/officeDocument/2006/relationships}}id"
    assert [one.get(reference) for one in book.iter(f"{{{main}}}sheet")] == ["rId1", "rId2"]
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    assert styles.tag == f"{{{main}}}styleSheet"
    (formats,) = styles.iter(f"{{{main}}}cellXfs")
    bold, wrapped = list(formats)[1:]
    assert bold.get("fontId") == "1" and next(iter(wrapped)).get("wrapText") == "1"


@pytest.mark.parametrize("rows", [2, 3])
def test_the_header_takes_a_row_too(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    sheets = [Worksheet("small", ["a"], []), Worksheet("s", ["a"], [[1]] * rows)]
    if rows < 3:
        assert workbook_bytes(sheets)
        return
    with pytest.raises(UsageError, match="3 rows are more than a spreadsheet holds") as refused:
        workbook_bytes(sheets)
    assert refused.value.where == "sheet 's'"
