"""What a spreadsheet program or pyarrow reads from a file must be what was predicted, to the last digit."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from harness.base.errors import UsageError
from harness.base.tables import csv_text
from harness.base.workbook import MOST_ROWS, Cell, Worksheet, workbook_bytes
from harness.benchmarks.new_item import NewItem
from harness.prediction import KINDS, Prediction, about_lines, content_of, to_json
from harness.prediction.prediction import PredictingMethod
from harness.prediction.request import PredictionRequest
from harness.prediction.rows import RankedRows
from tests.judges import judge

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DOCUMENT = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"

# the children of an element that ECMA-376 (part 1, sml.xsd) allows, in its order; others are not allowed
_SCHEMA = {
    "workbook": ["workbookPr", "bookViews", "sheets", "definedNames"],
    "sheets": ["sheet"],
    "worksheet": ["dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "autoFilter"],
    "sheetViews": ["sheetView"],
    "sheetView": ["pane", "selection"],
    "cols": ["col"],
    "sheetData": ["row"],
    "row": ["c"],
    "c": ["f", "v", "is"],
    "is": ["t"],
}

CELLS = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(-(2**53), 2**53),
    some.floats(allow_nan=False, allow_infinity=False),
    some.text(max_size=20),
    some.sampled_from(
        ["=1+1", "+1", "@a", "_x0041_", " blank ", "a\nb\tc", "<&>\"'", "\x00\x1f", "Acétyl\U0001f48a", "\ud800"]
    ),
)


def sheets_in(content: bytes) -> dict[str, list[list[Cell]]]:
    """The sheets as a program that follows the standard reads them, by name; a broken rule fails."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        parts = {name: archive.read(name) for name in archive.namelist()}
    types = ET.fromstring(parts["[Content_Types].xml"])
    assert types.tag == f"{_TYPES}Types"
    overrides = {one.get("PartName"): one.get("ContentType") for one in types.iter(f"{_TYPES}Override")}
    (root,) = targets(parts["_rels/.rels"], "")
    book = ET.fromstring(parts[root])
    check_order(book)
    links = targets_by_id(parts["xl/_rels/workbook.xml.rels"], "xl/")
    for link in links.values():
        assert f"/{link}" in overrides and link in parts
    sheets = {}
    for sheet in book.iter(f"{_MAIN}sheet"):
        name = sheet.get("name") or ""
        assert 0 < len(name) <= 31 and not re.search(r"[][*?:/\\]", name)
        tree = ET.fromstring(parts[links[sheet.get(f"{_DOCUMENT}id") or ""]])
        check_order(tree)
        pane = tree.find(f"{_MAIN}sheetViews/{_MAIN}sheetView/{_MAIN}pane")
        assert pane is not None and pane.get("state") == "frozen" and pane.get("ySplit") == "1"
        styles = ET.fromstring(parts["xl/styles.xml"])
        sheets[name] = rows_in(tree, most_style=len(next(styles.iter(f"{_MAIN}cellXfs"))))
    return sheets


def targets(part: bytes, folder: str) -> list[str]:
    """What a part refers to."""
    return [*targets_by_id(part, folder).values()]


def targets_by_id(part: bytes, folder: str) -> dict[str, str]:
    """What a part refers to, by identifier."""
    return {
        one.get("Id") or "": folder + (one.get("Target") or "")
        for one in ET.fromstring(part).iter(f"{_PACKAGE}Relationship")
    }


def check_order(tree: ET.Element) -> None:
    """Children are those that the schema allows, in its order: programs call a file damaged where they are not."""
    for element in tree.iter():
        name = element.tag.removeprefix(_MAIN)
        if name in _SCHEMA:
            places = [_SCHEMA[name].index(child.tag.removeprefix(_MAIN)) for child in element]
            assert places == sorted(places), name


def rows_in(tree: ET.Element, *, most_style: int) -> list[list[Cell]]:
    """The cells at their places."""
    rows: list[list[Cell]] = []
    for row in tree.iter(f"{_MAIN}row"):
        assert int(row.get("r") or 0) == len(rows) + 1
        cells: list[Cell] = []
        for cell in row:
            match = re.fullmatch("([A-Z]+)([0-9]+)", cell.get("r") or "")
            assert match and int(match[2]) == len(rows) + 1 and int(cell.get("s") or 0) < most_style
            column = 0
            for letter in match[1]:
                column = column * 26 + ord(letter) - ord("A") + 1
            assert column > len(cells), "cells must rise"
            cells += [None] * (column - 1 - len(cells))
            cells.append(value_of(cell))
        rows.append(cells)
    return rows


def value_of(cell: ET.Element) -> Cell:
    """The value by its type."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        text = cell.findtext(f"{_MAIN}is/{_MAIN}t") or ""
        return re.sub("_x([0-9A-F]{4})_", lambda match: chr(int(match[1], 16)), text)
    value = cell.findtext(f"{_MAIN}v") or ""
    assert cell.find(f"{_MAIN}f") is None, "no cell is a formula"
    if kind == "b":
        return {"0": False, "1": True}[value]
    assert kind == "n"
    return float(value) if {*value} & {*".e"} else int(value)


@settings(max_examples=40)
@given(some.lists(some.lists(CELLS, min_size=28, max_size=28), max_size=2))
def test_a_workbook_reads_as_it_was_written(rows: list[list[Cell]]) -> None:
    header = [f"column {number}" for number in range(28)]
    read = sheets_in(workbook_bytes([Worksheet("a/b" * 20, header, rows), Worksheet("about", ["what"], [])]))
    assert [*read] == [("a-b" * 20)[:31], "about"] and read["about"] == [["what"]]
    first, *others = read[("a-b" * 20)[:31]]
    assert first == header
    for row, found in zip(rows, others, strict=True):
        padded = [*found, *[None] * (28 - len(found))]
        # XML has one end of a line, so a carriage return is kept by its number
        assert [(type(one), one) for one in padded] == [(type(one), one) for one in row]


def test_equal_content_gives_equal_bytes() -> None:
    sheet = Worksheet("a", ["x"], [[1.5], ["é"]])
    content = workbook_bytes([sheet])
    assert content == workbook_bytes([sheet])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_what_is_no_number_of_a_spreadsheet_is_a_text() -> None:
    rows = sheets_in(workbook_bytes([Worksheet("a", ["x"], [[math.nan], [-math.inf]])]))["a"]
    assert rows[1:] == [["nan"], ["-inf"]]


def test_a_text_that_no_cell_holds_is_seen_to_be_cut() -> None:
    text = sheets_in(workbook_bytes([Worksheet("a", ["x"], [["y" * 40000]])]))["a"][1][0]
    assert isinstance(text, str) and len(text) == 32767 and text.endswith("y…")


def test_more_rows_than_a_spreadsheet_holds_are_refused() -> None:
    with pytest.raises(UsageError, match="more than a spreadsheet holds") as error:
        workbook_bytes([Worksheet("a", ["x"], [[1]] * MOST_ROWS)])
    assert ".parquet" in error.value.todo


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_name_is_no_formula_in_csv(start: str) -> None:
    name = f"{start}cmd|' /C calc'!A0"
    _, row = csv.reader(io.StringIO(csv_text(["name", "score"], [[name, -0.5]]), newline=""))
    assert row == [f"'{name}", "-0.5"]


def prediction() -> Prediction:
    """A small one, with an accent, a formula and an empty cell."""
    rows = ((1, "Acétyl", "=x", 0.1 + 0.2, None), (None, "b", "d", None, "associated"))
    made = ("2026-01-02T03:04:05Z", "0.1.0")
    method = PredictingMethod("bnnr", "published", "recommended", ("a control", "a finding"), "f" * 64, *made)
    other = PredictingMethod("constant", "corrected", "named", (), "e" * 64, *made)
    request = PredictionRequest(
        methods=("bnnr", "constant/corrected"),
        dataset="mine",
        seed=7,
        new=(NewItem(kind="drug", name="Acétyl", text="f1=0.5"), NewItem(kind="disease", name="d")),
        only=(("drug", "b"), ("disease", "x")),
        pairs=(("b", "d"), ("b", "x")),
    )
    table = RankedRows(("rank", "drug", "disease", "score", "known"), rows, 1, 7, 9)
    said = ("No probability.",)
    return Prediction("repurposing", request, "Mine", "Made up.", (method, other), said, table, has_known=True)


def test_every_kind_holds_the_same_rows_and_what_they_mean() -> None:
    one = prediction()
    book = content_of(one, "xlsx")
    assert isinstance(book, bytes)
    sheets = sheets_in(book)
    assert sheets["ranking"] == [
        list(one.columns),
        [1, "Acétyl", "=x", 0.1 + 0.2],
        [None, "b", "d", None, "associated"],
    ]
    about = [" ".join(map(str, row)) for row in sheets["about"]]
    assert about == [
        "what it says",
        "new drug Acétyl: f1=0.5",
        "new disease d",
        "only rows with drug b",
        "only rows with disease x",
        "only rows with both b and d",
        "only rows with both b and x",
        "seed 7",
        *(f"run {one * 64}, ended 2026-01-02T03:04:05Z, made by harness 0.1.0" for one in "fe"),
        "dataset mine (Mine): Made up.",
        "bnnr/published recommended (evidence: harness audit ffffffffffff)",
        "bnnr/published a control",
        "bnnr/published a finding",
        "constant/corrected named (evidence: harness audit eeeeeeeeeeee)",
        "note No probability.",
    ]
    assert about_lines(one) == [line.replace(" ", ": ", 1) for line in about[10:]]
    assert about_lines(replace(one, summary=""))[0] == "dataset: mine (Mine)"
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        cells = [
            set(re.findall(rb' s="([0-9])"', archive.read(f"xl/worksheets/sheet{number}.xml")))
            for number in (1, 2)
        ]
    # the sheet of sentences alone has cells whose lines are broken
    assert cells[1] - cells[0]
    read = json.loads(json.dumps(to_json(one)))
    remarks = ["a control", "a finding"]
    method = {"method": "bnnr", "variant": "published", "reason": "recommended", "remarks": remarks}
    other = {"method": "constant", "variant": "corrected", "reason": "named", "remarks": []}
    ended = {"finished": "2026-01-02T03:04:05Z", "harness": "0.1.0"}
    assert read == {
        "benchmark": "repurposing",
        "dataset": "mine",
        "summary": "Made up.",
        "new": [
            {"kind": "drug", "name": "Acétyl", "text": "f1=0.5"},
            {"kind": "disease", "name": "d", "text": ""},
        ],
        "only": [{"kind": "drug", "name": "b"}, {"kind": "disease", "name": "x"}],
        "pairs": [["b", "d"], ["b", "x"]],
        "seed": 7,
        "methods": [{**method, "key": "f" * 64, **ended}, {**other, "key": "e" * 64, **ended}],
        "meaning": ["No probability."],
        "columns": ["rank", "drug", "disease", "score", "known"],
        "ranked": 1,
        "asked": 7,
        "among": 9,
        "rows": [
            {"rank": 1, "drug": "Acétyl", "disease": "=x", "score": 0.1 + 0.2, "known": None},
            {"rank": None, "drug": "b", "disease": "d", "score": None, "known": "associated"},
        ],
    }
    assert (
        content_of(one, "csv")
        == "rank,drug,disease,score,known\n1,Acétyl,'=x,0.30000000000000004,\n,b,d,,associated\n"
    )
    packed = content_of(one, "parquet")
    assert isinstance(packed, bytes) and packed == content_of(one, "parquet")
    table = pq.read_table(io.BytesIO(packed))
    assert pq.ParquetFile(io.BytesIO(packed)).metadata.row_group(0).column(0).compression == "ZSTD"
    assert "Acétyl".encode() in packed and table.schema.metadata.keys() == {b"permafrost"}
    assert [tuple(row.values()) for row in table.to_pylist()] == list(one.rows)
    facts = json.loads(table.schema.metadata[b"permafrost"])
    assert {**facts, "rows": read["rows"]} == read


def asked(dataset: str) -> PredictionRequest:
    return PredictionRequest(methods=(), dataset=dataset)


def test_no_row_is_a_file_all_the_same() -> None:
    assert KINDS == ("csv", "xlsx", "parquet", "json")
    empty = Prediction(
        "combos", asked("c"), "C", "", (), (), RankedRows(("rank", "document", "score"), (), 0, 0, 0)
    )
    packed = content_of(empty, "parquet")
    assert isinstance(packed, bytes) and pq.read_table(io.BytesIO(packed)).column_names == list(empty.columns)
    assert content_of(empty, "csv") == "rank,document,score\n"


_READ = """
import json, sys, warnings, openpyxl
warnings.simplefilter("error")
book = openpyxl.load_workbook(sys.argv[1])
print(json.dumps({sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}))
"""


def test_another_program_reads_the_same(tmp_path: Path) -> None:
    """openpyxl finds the rows of our own reader, and nothing to warn of."""
    book = content_of(prediction(), "xlsx")
    assert isinstance(book, bytes)
    (tmp_path / "book.xlsx").write_bytes(book)
    command = [str(judge("files") / "python"), "-c", _READ, str(tmp_path / "book.xlsx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = {name: [row[: len(rows[0])] for row in rows] for name, rows in json.loads(done.stdout).items()}
    ours = sheets_in(book)
    width = {name: max(map(len, rows)) for name, rows in ours.items()}
    assert read == {name: [row + [None] * (width[name] - len(row)) for row in rows] for name, rows in ours.items()}


def test_what_is_said_beside_rows_can_be_read_as_it_is_written() -> None:
    """By whoever looks at the metadata of a Parquet file, without a parser of JSON."""
    one = Prediction("combos", asked("Größen"), "C", "", (), (), RankedRows(("rank",), (), 0, 0, 0))
    packed = content_of(one, "parquet")
    assert isinstance(packed, bytes)
    assert "Größen" in pq.read_schema(io.BytesIO(packed)).metadata[b"permafrost"].decode()
