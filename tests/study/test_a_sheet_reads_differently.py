"""Whole sheets, entry by entry and word by word, of runs and measures that are made up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.compare import Book
from harness.compare.comparison import ClaimVerdict
from harness.study import make_study
from harness.study.sheets import Picture, Sheet, Study, percent, runs_at, to_json, to_markdown, to_text
from tests.study.kept import described, is_kept


@pytest.fixture(scope="module")
def study(repository: Layout, book: Book) -> Study:
    found = make_study(repository, book)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "label", ["Table 5", "Table 7", "Table 10", "Table 14", "Figure 2b", "Figure 3", "Figure 4"]
)
def test_sheets_of_many_methods_read_as_kept(study: Study, label: str) -> None:
    """Claims, groups of methods and how runs ended, of ten seeds that are drawn from the published values."""
    (sheet,) = (one for one in study.sheets if f"{one.kind.capitalize()} {one.number}" == label)
    assert is_kept(f"{label.lower().replace(' ', '-')}.txt", described(sheet))


def test_the_keys_of_runs_stand_at_the_columns_of_their_numbers() -> None:
    row, keys = ("a", "b", "c", "d"), ("k", "l")
    assert runs_at((1, -1), row, keys) == [(), keys, (), keys]
    assert runs_at((), row, keys) == [()] * 4
    assert runs_at((-4,), row, keys) == [keys, (), (), ()]


def test_a_column_that_is_empty_in_every_row_is_left_out() -> None:
    head, rows = ("1", "2", "3", "4"), [("a", "", "-", ""), ("b", "", "-", "x")]
    chips, runs = [("", "", "", "ok")] * 2, [((), (), ("k",), ())] * 2
    sheet = Sheet("table", "1", "Title", head, rows, chips=chips, runs=runs)
    shown = sheet.without_empty_columns()
    assert (shown.head, shown.rows) == (("1", "3", "4"), [("a", "-", ""), ("b", "-", "x")])
    assert (shown.chips, shown.runs) == ([("", "", "ok")] * 2, [((), ("k",), ())] * 2)
    assert shown.without_empty_columns() == shown
    nothing = replace(sheet, rows=[], chips=[], runs=[])
    assert nothing.without_empty_columns() == nothing


def test_a_share_in_percent_has_one_digit() -> None:
    assert [percent(value) for value in (None, 0.0, 0.12345, 1.0)] == ["-", "0.0", "12.3", "100.0"]


def sheet_of(kind: Literal["table", "figure"], number: str, **more: object) -> Sheet:
    return Sheet(kind, number, f"Title {number}", ["h|1", "h2"], [["a", "b"], ["c", "d"]], **more)  # type: ignore[arg-type]


DEVIATES, PENDING = ClaimVerdict.DEVIATES, ClaimVerdict.PENDING
SMALL = Study(
    "toy",
    ("A source_1", "another"),
    (
        sheet_of("table", "1"),
        sheet_of(
            "table", "2", columns="the columns", tally=Counter({DEVIATES: 2, PENDING: 1}), notes=["a *note*", "b"]
        ),
        sheet_of("figure", "1", columns="others", counted="pairs", tally=Counter({PENDING: 3}), style="wide two"),
        sheet_of("figure", "2", values={"title": "own", "rows": [1]}, pictures=[Picture("heading", "<svg/>")]),
    ),
)


def test_a_study_as_text() -> None:
    assert to_text(SMALL) == (
        "A source_1\nanother\n\nthe columns\n\n"
        "Table 1. Title 1\n\n  h|1  h2\n  a    b\n  c    d\n\n"
        "Table 2. Title 2\n  3 numbers = 2 deviates + 1 pending\n\n  h|1  h2\n  a    b\n  c    d\n\n"
        "  a *note*\n  b\n\n"
        "Figure 1. Title 1\n  3 pairs = 3 pending\n\n  h|1  h2\n  a    b\n  c    d\n\n"
        "Figure 2. Title 2\n\n  h|1  h2\n  a    b\n  c    d\n"
    )


def test_a_single_number_is_counted_as_one() -> None:
    one = Counter({PENDING: 1})
    assert sheet_of("table", "1", tally=one).tally_text == "1 number = 1 pending"
    assert sheet_of("table", "1", tally=one, counted="pairs").tally_text == "1 pair = 1 pending"


def test_a_study_as_a_document() -> None:
    table = "| h\\|1 | h2 |\n| --- | --- |\n| a | b |\n| c | d |\n"
    assert to_markdown(SMALL) == (
        "# The study of `toy`\n\n- A source_1\n- another\n\nthe columns\n\n"
        f"## Table 1. Title 1\n\n{table}\n"
        f"## Table 2. Title 2\n\n3 numbers = 2 deviates + 1 pending\n\n{table}\n- a \\*note\\*\n- b\n\n"
        f"## Figure 1. Title 1\n\n3 pairs = 3 pending\n\n{table}\n"
        f"## Figure 2. Title 2\n\n{table}"
    )


def test_a_study_for_programs() -> None:
    rows = [["a", "b"], ["c", "d"]]
    assert to_json(SMALL) == {
        "benchmark": "toy",
        "sources": ["A source_1", "another"],
        "tables": {
            "1": {"title": "Title 1", "columns": ["h|1", "h2"], "rows": rows},
            "2": {"title": "Title 2", "columns": ["h|1", "h2"], "rows": rows},
        },
        "figures": {
            "1": {"title": "Title 1", "columns": ["h|1", "h2"], "rows": rows},
            "2": {"title": "own", "rows": [1]},
        },
    }


def test_entries_are_texts_with_verdicts_and_runs() -> None:
    plain, *_ = SMALL.sheets
    assert plain.entries == [[("a", "", ()), ("b", "", ())], [("c", "", ()), ("d", "", ())]]
    full = replace(plain, chips=[["", "x"], ["y", ""]], runs=[[("k",), ()], [(), ("l", "m")]])
    assert full.entries == [[("a", "", ("k",)), ("b", "x", ())], [("c", "y", ()), ("d", "", ("l", "m"))]]
    with pytest.raises(ValueError, match="zip"):
        _ = replace(plain, chips=[["", ""]]).entries
    assert SMALL.sheets[2].styles == ["wide", "two"] and plain.styles == [] and plain.tally_text == ""


def test_a_study_deviates_with_any_of_its_sheets() -> None:
    assert SMALL.deviates and SMALL.columns == "the columns"
    rest = SMALL.only(("1",), ("1", "2"))
    assert not rest.deviates and rest.columns == "others"
    assert SMALL.only((), ()).sheets == () and SMALL.only((), ()).columns == ""
    assert [(one.kind, one.number) for one in rest.sheets] == [("table", "1"), ("figure", "1"), ("figure", "2")]


@pytest.mark.parametrize(("tables", "figures", "kind"), [(("3",), (), "table"), ((), ("2", "3"), "figure")])
def test_a_number_that_is_no_sheet_is_refused(
    tables: tuple[str, ...], figures: tuple[str, ...], kind: str
) -> None:
    with pytest.raises(UsageError) as found:
        SMALL.only(tables, figures)
    assert (found.value.what, found.value.where, found.value.todo) == (
        f"there is no {kind} 3 here",
        "the study of benchmark 'toy'",
        "choose one of: 1, 2",
    )
