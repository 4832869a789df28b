"""What a sheet says that a paper says is what the paper prints, and names stand as the paper writes them."""

from __future__ import annotations

import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.study.data_facts import SplitFacts
from harness.benchmarks.repurposing.study.figures import make_figures
from harness.compare import Book, load_names
from harness.study.sides import Sides
from tests.study.conftest import MakeSheets
from tests.study.test_ddi_a_measure_is_turned_around import measured, split

# Table 1, column by column; crosses are printed where a property is missing.
TABLE_1 = {
    "Random": ("", "x", "Low"),
    "Drug frequency": ("", "x", "Low"),
    "Drug usage": ("", "x", "Low"),
    "Scaffold": ("", "x", "Low"),
    "LoHi": ("x", "x", "Medium"),
    "SPECTRA": ("x", "", "Low"),
    "DataSAIL": ("", "x", "Medium"),
    "Cluster": ("", "", "High"),
}


@pytest.fixture
def nothing_measured(monkeypatch: pytest.MonkeyPatch) -> SplitFacts:
    monkeypatch.setattr("harness.benchmarks.ddi.study.changes_since", lambda *_: [])
    return measured([split("cluster", 1, [1, 2, 3], group="another")])


def test_table_1_of_ddi(nothing_measured: SplitFacts, sheets_of_data: MakeSheets) -> None:
    sheet = sheets_of_data(nothing_measured)["table", "1"]
    assert sheet.head[:4] == [
        "strategy",
        "keeps all drugs",
        "controls the change",
        "consistency with approval time",
    ]
    expected = [
        [title, *("no / -" if cross else "yes / -" for cross in crosses), f"{consistency.lower()} / -"]
        for title, (*crosses, consistency) in TABLE_1.items()
    ]
    assert [row[:4] for row in sheet.rows] == expected
    assert all(row[4:] == ["-"] * 4 for row in sheet.rows)


def test_figures_of_repurposing_name_everything_as_printed(repository: Layout, book: Book) -> None:
    names = load_names(repository, "repurposing")
    figures = make_figures(Sides(repository, book, names, ("constant",)))
    assert book.several is not None
    paper = book.several.paper
    for titles in (paper.metrics, paper.datasets, paper.methods):
        assert {figures.title(published) for published in titles} == {
            title.replace("_", " ") for title in titles.values()
        }
    for published, ours in names.splits.items():
        assert figures.title(published) == ours.replace("_", " ")
    assert figures.title("a_name_of_nobody") == "a name of nobody"
