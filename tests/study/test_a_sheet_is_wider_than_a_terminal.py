"""A wide table is cut into tables that fit, and no entry leaves its row or its column on the way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.tables import aligned, fitted
from harness.study.sheets import Sheet, Study, to_text

_WORD = st.text("abcdefg", min_size=1, max_size=12)


@st.composite
def _tables(draw: st.DrawFn) -> list[list[str]]:
    """A head and rows; the first two columns tell the rows apart, the second alone does not."""
    columns = draw(st.integers(1, 7))
    groups = draw(st.lists(_WORD, min_size=1, max_size=3, unique=True))
    rows = [
        [group, name, *draw(st.lists(_WORD, min_size=columns, max_size=columns))]
        for group in groups
        for name in "xy"
    ]
    return [["group", "name", *(f"h{number}" for number in range(columns))], *rows]


@given(_tables())
def test_every_entry_stands_in_its_row_below_its_head(rows: list[list[str]]) -> None:
    lines = fitted(rows, indent="  ", width=40)
    assert max(map(len, lines)) <= 40
    if lines == aligned(rows, indent="  "):
        return
    found: dict[tuple[str, str], dict[str, str]] = {}
    head, group = [""], ""
    for line in lines:
        words = re.split(r"\s{2,}", line.strip())
        if words[0] == "name":
            head = words
        elif line.startswith("    "):
            found.setdefault((group, words[0]), {}).update(zip(head[1:], words[1:], strict=True))
        elif line:
            group = line.strip()
    assert found == {(row[0], row[1]): dict(zip(rows[0][2:], row[2:], strict=True)) for row in rows[1:]}


def test_what_fits_stays_one_table() -> None:
    rows = [["method", "value"], ["bnnr", "0.8"], ["drrs", "0.7"]]
    assert fitted(rows) == aligned(rows)


def test_a_row_without_a_name_is_kept() -> None:
    rows = [["a" * 30, "b" * 30, "c" * 30], ["same", "1", "2"], ["same", "1", "2"]]
    assert [line.split() for line in fitted(rows, width=70)] == [
        ["a" * 30, "b" * 30],
        ["same", "1"],
        ["same", "1"],
        [],
        ["a" * 30, "c" * 30],
        ["same", "2"],
        ["same", "2"],
    ]


@pytest.mark.parametrize("columns", [3, 9])
def test_a_study_fits_80_columns(columns: int) -> None:
    head = ["dataset", *(f"column {number}" for number in range(columns))]
    sheet = Sheet(
        "table", "1", "A title that is " + "long " * 15, head, [["Cdataset", *["0.8009 (100)"] * columns]]
    )
    text = to_text(Study("ddi", ("a source",), (sheet,)))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("0.8009 (100)") == columns
