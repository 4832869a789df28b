"""Every claim of a table is in the study, in each rendering, with its verdict; figures are whole and harmless."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.study.figures import Figures, make_figures
from harness.cli import main
from harness.compare import Book, ClaimVerdict, load_names
from harness.compare.paper import Place
from harness.study import make_study, to_json, to_markdown, to_text
from harness.study.sheets import Sheet, Study
from harness.study.sides import Sides
from harness.study.svg import Drawing, Scale, draw_box

TABLES = ["5", "6", "7", "8", "9", "10", "14"]


@pytest.fixture(scope="module")
def study(repository: Layout, book: Book) -> Study:
    made = make_study(repository, book)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def figures(repository: Layout, book: Book) -> Figures:
    return figures_of(repository, book)


def figures_of(repository: Layout, book: Book) -> Figures:
    return make_figures(Sides(repository, book, load_names(repository, "repurposing"), ("constant",)))


def sheets(study: Study, kind: str) -> list[Sheet]:
    return [one for one in study.sheets if one.kind == kind]


def test_every_claim_of_a_table_is_in_it(study: Study, book: Book) -> None:
    assert [table.number for table in sheets(study, "table")] == TABLES
    for table in sheets(study, "table"):
        claimed = [one for one in book.comparisons if one.claim.source.startswith(f"Table {table.number},")]
        counts = Counter(one.verdict for one in claimed)
        if table.number == "14":
            assert table.tally == counts and sum(counts.values()) == 198
            continue
        rows = [row for row in table.values["rows"] if row["verdict"] != "control"]
        # a part of a claim has a row, but is no number that is printed
        whole = [row for row in rows if "; on " not in row["source"]]
        assert whole and Counter(row["verdict"] for row in whole) == counts == table.tally


def test_controls_stand_in_every_table(study: Study) -> None:
    for table in sheets(study, "table"):
        rows = table.values["rows"]
        if table.number == "14":
            assert "constant" in table.head
        elif table.number in ("7", "8"):
            assert {row["about"] for row in rows if row["verdict"] == "control"} == {"constant"}
        else:
            compared = [row for row in rows if row["ours"] is not None]
            assert all(row["control"] for row in compared)
            assert bool(compared) == (table.number != "9")


def test_all_renderings_hold_all_numbers(study: Study) -> None:
    text, markdown, content = to_text(study), to_markdown(study), to_json(study)
    json.dumps(content, allow_nan=False)
    for table in sheets(study, "table"):
        for told in (text, markdown):
            assert f"Table {table.number}. " in told
        assert len(content["tables"][table.number]["rows"]) == len(table.rows)
    assert set(content["figures"]) == {"2b", "3", "4"}
    for printed in ("1100.2", "128.5", "0.87", "(623.0)"):
        assert printed in text and printed in markdown
    widths = {line.count(" | ") for line in re.findall(r"^\| Cdataset .*$", markdown, re.MULTILINE) if "✓" in line}
    assert len(widths) == 1


def test_drawings_are_whole_and_harmless(study: Study) -> None:
    pictures = [picture for sheet in sheets(study, "figure") for picture in sheet.pictures]
    assert len(pictures) == 3 + 4 + 1
    for picture in pictures:
        root = ElementTree.fromstring(picture.svg)
        width, height = (float(text) for text in root.attrib["viewBox"].split()[2:])
        assert root.attrib["role"] == "img" and root[0].tag.endswith("title") and root[1].text
        for mark in root.iter():
            for name, most in (
                ("x", width),
                ("x1", width),
                ("x2", width),
                ("y", height),
                ("y1", height),
                ("y2", height),
            ):
                assert -1 <= float(mark.attrib.get(name, "0")) <= most + 1, mark.attrib
        assert "url(" not in picture.svg and "nan" not in picture.svg


def test_both_sides_are_drawn_of_what_is_here(figures: Figures) -> None:
    for panel in figures.panels:
        here = [best for best in panel.datasets if best.n]
        assert len(here) == 4 and all(len(ours) == 10 for best in here for _, _, ours in best.boxes)
        assert all(best.verdict is ClaimVerdict.REPRODUCED for best in here), panel
        assert all(best.control is not None for best in here)
        absent = [best for best in panel.datasets if not best.n]
        assert all(best.verdict is ClaimVerdict.NOT_COMPARABLE and "no data" in best.reason for best in absent)
    assert {verdict for verdict, _ in figures.agreement} == {ClaimVerdict.REPRODUCED}


def test_another_ranking_is_no_reproduction(repository: Layout, book: Book) -> None:
    several = book.several
    assert several is not None
    worst = Place("Fdataset", "LibMF", "random_simple")
    values = {**several.ours.values, worst: {seed: {"NS-AUC": 0.99, "AUC": 0.99} for seed in range(10)}}
    changed = replace(several, ours=replace(several.ours, values=values))
    far = replace(book, several=changed)
    found = {
        (panel.metric, panel.split, best.dataset): best
        for panel in figures_of(repository, far).panels
        for best in panel.datasets
    }
    best = found["NS-AUC", "random_simple", "Fdataset"]
    study = make_study(repository, far)
    assert study is not None and study.only((), ("3",)).deviates and not study.only((), ("4",)).deviates
    assert best.verdict is ClaimVerdict.DEVIATES and best.ours[0] == "LibMF"


def test_names_in_a_drawing_are_text() -> None:
    drawing = Drawing(10, 10, "<b>", "&")
    drawing.write(0, 0, "</svg><script>")
    with drawing.explained('"quoted" <'):
        draw_box(drawing, np.array([0.5]), Scale(0, 1, 0, 10), 0, 4, "ours")
    ElementTree.fromstring(drawing.text)
    assert "<script>" not in drawing.text


def test_the_page_shows_tables_and_figures(study: Study, page_of: Callable[[Study], str]) -> None:
    page = page_of(study)
    assert re.findall(r"<h4>Table (\w+)\.", page) == TABLES
    figures = page.split("<h4>Figure ")[1:]
    assert [figure.count("<figure>") for figure in figures] == [3, 4, 1]
    for table in sheets(study, "table"):
        assert all(len(row) == len(table.head) for row in table.entries)


def test_some_of_it_can_be_asked_for(study: Study) -> None:
    some = study.only(("10",), ("3",))
    assert "Table 10." in to_text(some) and "Table 5." not in to_text(some) and "Figure 2b." not in to_text(some)
    with pytest.raises(UsageError, match="there is no table 11"):
        study.only(("11",), ())


def test_the_command_answers(repository: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["study", "--table", "9", "--json"])
    assert done.value.code == 0
    assert list(json.loads(capsys.readouterr().out)["tables"]) == ["9"]
    with pytest.raises(SystemExit) as wrong:
        main(["study", "--figure", "9"])
    assert wrong.value.code == 2
