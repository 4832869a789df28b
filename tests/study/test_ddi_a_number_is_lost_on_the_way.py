"""Every claim of DDI-Ben's tables is in the study, in each rendering, with its verdict; drawings are whole."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from html import unescape
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.markdown import plain
from harness.base.vocabulary import Verdict
from harness.benchmarks.ddi.study.drawings import Bar, Curve, bars, heat, lines, scatter
from harness.cli import group
from harness.compare import Book, ClaimVerdict
from harness.compare.names import Target
from harness.compare.runs import Obtained, Runs
from harness.study import make_study, to_json, to_markdown, to_text
from harness.study.sheets import Sheet, Study
from tests.study.conftest import ddi_book_of

CLAIMED = ["4", "10", "11", "12", "13"]
TABLES = ["1", "4", "6", "8", "9", "10", "11", "12", "13"]
FIGURES = ["4", "5", "6", "7", "8", "9", "11", "12", "13", "14", "15"]


@pytest.fixture(scope="module")
def study(elsewhere: Layout, ddi_book: Book) -> Study:
    made = make_study(elsewhere, ddi_book)
    assert made is not None
    return made


def sheet_of(study: Study, kind: str, number: str) -> Sheet:
    return next(one for one in study.sheets if (one.kind, one.number) == (kind, number))


def test_there_is_a_sheet_per_table_and_figure(study: Study) -> None:
    assert [one.number for one in study.sheets if one.kind == "table"] == TABLES
    assert [one.number for one in study.sheets if one.kind == "figure"] == FIGURES


@pytest.mark.parametrize("number", CLAIMED)
def test_every_claim_of_a_table_is_in_it(study: Study, ddi_book: Book, number: str) -> None:
    sheet = sheet_of(study, "table", number)
    claims = [one for one in ddi_book.comparisons if one.claim.source.startswith(f"Table {number},")]
    assert claims and sheet.tally == Counter(one.verdict for one in claims)
    entries = Counter(text.split(" / ")[0].split("±")[0] for row in sheet.rows for text in row)
    for one in claims:
        printed = one.claim.published if number == "13" else f"{100 * one.claim.value:.1f}"
        assert entries[printed], one.claim
    verdicts = Counter(chip for row in sheet.chips for chip in row if chip)
    assert verdicts == Counter(str(one.verdict) for one in claims if one.ours is not None)


def test_all_renderings_hold_all_rows(study: Study, page_of: Callable[[Study], str]) -> None:
    text, markdown, content = to_text(study), to_markdown(study), to_json(study)
    json.dumps(content, allow_nan=False)
    assert set(content["tables"]) == set(TABLES) and set(content["figures"]) == set(FIGURES)
    shown = unescape(page_of(study)).replace("<wbr>", "")
    # lines break where a terminal ends
    text = " ".join(text.split())
    for sheet in study.sheets:
        heading = f"{sheet.kind.capitalize()} {sheet.number}. {sheet.title}"
        assert heading in text and plain(heading) in markdown
        assert len(content[f"{sheet.kind}s"][sheet.number]["rows"]) == len(sheet.rows)
        assert all(len(row) == len(sheet.head) for row in sheet.rows), heading
        assert heading in shown and len(sheet.entries) == len(sheet.rows)
        for row in sheet.rows[:20]:
            assert all(cell in text and plain(cell) in markdown and cell in shown for cell in row)


def test_accuracy_is_what_a_methods_original_means_by_it(repository: Layout, elsewhere: Layout) -> None:
    """The finding: three originals say so of the precision at half. Drugbank's accuracy is everybody's."""
    metrics: dict[str, float | None] = {
        "S1 accuracy/as-published": 0.25,
        "S1 precision at half/as-published": 0.75,
    }
    runs: Runs = {
        Target(method, dataset, "released:which=random"): {124: Obtained("a" * 64, Verdict.OK, "", metrics, {})}
        for method in ("mlp", "tiger", "emergnn", "textddi", "ddi_gpt")
        for dataset in ("drugbank", "twosides")
    }
    study = make_study(elsewhere, ddi_book_of(repository, runs, {}))
    assert study is not None
    shown = {row[3]: (row[1], row[4]) for row in sheet_of(study, "figure", "12").rows}
    assert {title: told for title, told in shown.items() if told[0] == "accuracy"} == dict.fromkeys(
        ("MLP", "TIGER"), ("accuracy", "- / 25.0")
    )
    assert {title: told for title, told in shown.items() if told[0] != "accuracy"} == dict.fromkeys(
        ("EmerGNN", "TextDDI", "DDI-GPT"), ("precision at half", "- / 75.0")
    )
    assert len(sheet_of(study, "figure", "12").notes) == 3
    assert {row[1] for row in sheet_of(study, "figure", "11").rows} == {"accuracy"}
    assert not sheet_of(study, "figure", "11").notes


def test_a_figure_of_which_nothing_was_run_says_what_makes_it(study: Study) -> None:
    """A title alone would pass for a figure that is broken."""
    empty = {one.number: one for one in study.sheets if one.kind == "figure" and not one.rows}
    suites = {"11": "ddi-drugbank", "12": "ddi-twosides", "15": "ddi-datasail"}
    assert set(empty) == set(suites)
    for number, suite in suites.items():
        assert empty[number].notes == [f"No run yet: `harness run --suite {suite}` makes them."]
    assert empty["15"].notes and not empty["15"].legend
    assert not any("No run yet" in note for one in study.sheets if one.rows for note in one.notes)


def test_drawings_are_whole_and_harmless(study: Study) -> None:
    pictures = [picture for sheet in study.sheets for picture in sheet.pictures]
    assert len(pictures) > 10
    for picture in pictures:
        whole(picture.svg)


def whole(svg: str) -> ElementTree.Element:
    root = ElementTree.fromstring(svg)
    width, height = (float(text) for text in root.attrib["viewBox"].split()[2:])
    assert root.attrib["role"] == "img" and root[0].tag.endswith("title") and root[1].text
    for mark in root.iter():
        for names, most in ((("x", "x1", "x2", "cx"), width), (("y", "y1", "y2", "cy"), height)):
            assert all(-1 <= float(mark.attrib.get(name, "0")) <= most + 1 for name in names), mark.attrib
        if mark.tag.endswith("rect"):
            assert float(mark.attrib["x"]) + float(mark.attrib["width"]) <= width + 1
    assert "url(" not in svg and "nan" not in svg
    return root


def test_both_sides_of_a_bar_are_seen() -> None:
    root = whole(bars("<b>", [Bar("one", ((0.25, 0.5), (None, None))), Bar("two & more", ((0.1, None),))]))
    styles = [mark.attrib["class"] for mark in root.iter() if mark.tag.endswith("rect")]
    assert styles == ["filled", "outline", "outline"], "an outline that is filled hides our bar"


def test_names_at_the_ends_of_curves_do_not_cover_each_other() -> None:
    curves = [Curve(f"name {number}", [(0.0, 0.5), (1.0, 0.9 + number / 1e4)]) for number in range(8)]
    for svg in (lines("many", curves, "gamma", shares=True), lines("many", curves, "year")):
        ends = [
            float(mark.attrib["y"])
            for mark in whole(svg).iter()
            if mark.tag.endswith("text") and (mark.text or "").startswith("name")
        ]
        assert len(ends) == 8 and min(b - a for a, b in zip(sorted(ends), sorted(ends)[1:], strict=False)) >= 10


def test_one_point_and_equal_points_are_drawn() -> None:
    whole(lines("one", [Curve("a", [(0.55, 0.0)])], "gamma"))
    whole(
        lines(
            "level", [Curve("a", [(1.0, 7000.0), (2.0, 7000.0)]), Curve("b", [(1.0, -3.0)])], "year", form=",.0f"
        )
    )
    whole(scatter("nothing else", [(0.0, 0.0), (999.0, 999.0)], [], 999.0))


def test_types_without_items_are_marked() -> None:
    root = whole(heat("types", [("mlp", [0.5, None, 1.0])]))
    assert sum(mark.attrib.get("class") == "curve" for mark in root.iter()) == 2


def test_some_of_it_can_be_asked_for(study: Study) -> None:
    some = study.only(("10",), ("7",))
    assert [one.number for one in some.sheets] == ["10", "7"]
    with pytest.raises(UsageError, match="there is no table 2"):
        study.only(("2",), ())
    assert not some.deviates


def test_the_command_answers(elsewhere: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(elsewhere.local))
    done = CliRunner().invoke(group, ["study", "--benchmark", "ddi", "--table", "13", "--json"])
    assert done.exit_code == 0 and list(json.loads(done.stdout)["tables"]) == ["13"]
    assert CliRunner().invoke(group, ["study", "--measure", "--table", "9"]).exit_code != 0


def test_a_share_is_told_once_per_verdict(study: Study) -> None:
    for number in CLAIMED:
        sheet = sheet_of(study, "table", number)
        told = sum(int(found[1]) for note in sheet.notes if (found := re.match(r"(\d+) numbers?: ", note)))
        assert told == sheet.tally.total() - sheet.tally[ClaimVerdict.REPRODUCED]
