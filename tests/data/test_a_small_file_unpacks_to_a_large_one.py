"""A workbook of a few kilobytes must not become gigabytes of memory."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from harness.base import zips
from harness.base.errors import CorruptData
from harness.benchmarks.ddi.converters.ddi_bench.approval import approvals_in

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORDS = f'<sst xmlns="{SHEET}"><si><t>DB1</t></si></sst>'
ROWS = (
    f'<worksheet xmlns="{SHEET}"><sheetData><row><c r="A1"><v>head</v></c></row><row><c r="A2" t="s"><v>0</v></c>'
    '<c r="D2"><v>2001/02/03</v></c></row></sheetData></worksheet>'
)


def _book(path: Path, words: str, rows: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", words)
        book.writestr("xl/worksheets/sheet1.xml", rows)
    return path


def test_a_workbook_is_read(tmp_path: Path) -> None:
    assert approvals_in(_book(tmp_path / "book.xlsx", WORDS, ROWS)) == {"DB1": "2001/02/03"}


@pytest.mark.parametrize("large", ["xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"])
def test_a_workbook_that_unpacks_to_too_much_is_refused_unread(tmp_path: Path, large: str) -> None:
    padding = " " * (zips.MOST_BYTES + 1)
    words, rows = (WORDS + padding, ROWS) if "shared" in large else (WORDS, ROWS + padding)
    path = _book(tmp_path / "book.xlsx", words, rows)
    assert path.stat().st_size < 1 << 20
    del padding, words, rows
    tracemalloc.start()
    with pytest.raises(CorruptData, match=f"{large} unpacks to") as caught:
        approvals_in(path)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
    assert caught.value.where == str(path)


def test_a_size_that_lies_unpacks_no_more_than_it_says(tmp_path: Path) -> None:
    path = _book(tmp_path / "book.xlsx", WORDS + " " * 5000, ROWS)
    content = bytearray(path.read_bytes())
    told = (len(WORDS) + 5000).to_bytes(4, "little")
    assert content.count(told) == 2
    path.write_bytes(bytes(content).replace(told, (10).to_bytes(4, "little")))
    with pytest.raises(CorruptData, match="not a workbook"):
        approvals_in(path)


def test_the_bound_is_the_last_size_that_is_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"12345")
    with zipfile.ZipFile(buffer) as archive:
        assert zips.member(archive, "a", most_bytes=5) == b"12345"
        with pytest.raises(zipfile.BadZipFile, match="5 bytes, more than 4"):
            zips.member(archive, "a", most_bytes=4)
