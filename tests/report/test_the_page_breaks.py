"""The page holds every cell, opens in a real browser, sorts, filters, shows evidence, runs nothing from a log."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.base.foreign_text import printable
from harness.base.layout import Layout
from harness.base.logs import log_tail
from harness.base.vocabulary import Verdict
from harness.compare import Book
from harness.planning.plan import Plan
from harness.report import write_report
from harness.report.html import SYMBOLS, harmless_json, make_report, render
from harness.status import Table
from tests.fabricate import drug_cell, plan_of, planned_of, put_run, table_of
from tests.report.devtools import Tab, measured, rendered

HOSTILE = (
    '</script><script>document.title="owned"</script>'
    '<img src=x onerror=document.title="owned"> \x1b[31m\x07 & <!--'
)
NOTHING = "\u2013"


def data_of(page: Path) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)
    assert found
    content = json.loads(found[1])
    assert isinstance(content, dict)
    return content


def rows(document: str) -> list[list[str]]:
    """The text of every row of the table of cells."""

    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.inside, self.found = False, list[list[str]]()

        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            self.inside = self.inside or ("id", "rows") in attributes
            if self.inside and tag == "tr":
                self.found.append([])
            if self.inside and tag == "td":
                self.found[-1].append("")

        def handle_endtag(self, tag: str) -> None:
            self.inside = self.inside and tag != "tbody"

        def handle_data(self, data: str) -> None:
            if self.inside and self.found and self.found[-1]:
                self.found[-1][-1] += data

    reader = Reader()
    reader.feed(document)
    return reader.found


def test_equal_inputs_give_equal_bytes(shown: Layout, made_up: Plan, page: Path) -> None:
    first = page.read_bytes()
    assert write_report(shown, table_of(shown, made_up)).read_bytes() == first


def test_the_page_needs_no_network(page: Path) -> None:
    text = page.read_text()
    assert "default-src 'none'" in text
    # a link to a paper is no part of the page
    assert not re.search(r'<(?!a )[^>]*(src|href)="(https?:)?//', text)
    assert "@import" not in text and "url(" not in text
    assert len(re.findall("<!doctype html>", text)) == 1


def test_the_page_holds_every_planned_cell_and_the_sum(made_up: Plan, page: Path) -> None:
    cells = data_of(page)["cells"]
    assert isinstance(cells, list)
    assert {cell["key"] for cell in cells} == {planned_of(cell).key for cell in made_up.cells}
    text = " ".join(re.sub("<[^>]+>", " ", page.read_text().replace("&nbsp;", " ")).split())
    assert "6 cells planned = 3 ok + 1 error + 2 pending" in text


def test_the_page_shows_the_study_with_both_sides_drawn(page: Path) -> None:
    text = page.read_text()
    assert text.count('<svg class="figure" role="img"') == 2 + 4 + 1, "one correlogram waits for runs"
    for number in ("5", "6", "7", "8", "9", "10", "14"):
        assert f">Table {number}. " in text
    assert text.index(">Table 14. ") < text.index(">Figure 2b. "), "numbers come before drawings"
    assert 'class="published box"' in text and 'class="control"' in text
    assert "url(" not in text and "<image" not in text


def test_every_verdict_has_a_shape_and_a_colour() -> None:
    style = (Path(__file__).parents[2] / "harness" / "report" / "page" / "page.css").read_text()
    assert len(set(SYMBOLS.values())) == len(Verdict)
    for verdict in Verdict:
        assert f".v-{verdict}" in style


@pytest.mark.parametrize("text", ["</script>", "<!-- <script>", "a & b", "\u2028", '"quoted"'])
def test_json_in_a_script_cannot_end_it(text: str) -> None:
    told = harmless_json({"text": text})
    assert not {*b"<>&"} & {*told}
    assert json.loads(told) == {"text": text}


def test_logs_are_bounded_and_never_fail(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    assert log_tail(path, 100) == ""
    path.write_bytes(b"line\n" * 1000)
    tail = log_tail(path, 100)
    assert tail.startswith("[the last 100 of 5,000 bytes]\nline") and len(tail) < 140
    path.write_bytes(b"\xff\xfe\x00 \x1b[1;31mred\x1b[0m \xe2\x80\xa8 \r\nend")
    assert log_tail(path, 100) == "\ufffd\ufffd red  \nend"
    path.write_bytes(b"x" * 1000)
    assert log_tail(path, 10).endswith("x" * 10)


def test_filtering_and_sorting_work_in_a_browser(page: Path, tab: Tab) -> None:
    everything = rows(rendered(tab, page, ""))
    assert len(everything) == 6
    ended_ok = rows(rendered(tab, page, "verdict=ok&sort=score&order=desc"))
    assert {row[0].strip() for row in ended_ok} == {"✓ ok"}
    scores = [float(row[5]) for row in ended_ok]
    assert scores == sorted(scores, reverse=True) and len(scores) == 3
    rising = rows(rendered(tab, page, "sort=score"))
    known = [float(row[5]) for row in rising if row[5] != NOTHING]
    assert known == sorted(known) and [row[5] for row in rising][-3:] == [NOTHING] * 3
    falling = [row[5] for row in rows(rendered(tab, page, "sort=score&order=desc"))]
    assert falling == [*[row[5] for row in rising[2::-1]], *[NOTHING] * 3], "what has no value is last"
    searched = rows(rendered(tab, page, "q=als_wr+matrix"))
    assert [row[1] for row in searched] == ["als_wr"] and "no such matrix" in searched[0][-1]
    assert rows(rendered(tab, page, "dataset=synthetic&method=lrssl&verdict=ok")) == []


def test_what_is_cleared_shows_the_score_that_it_names(page: Path, tab: Tab) -> None:
    chosen = "[filters.elements.metric.value, heads.cells[5].textContent, filters.elements.verdict.value]"
    usual = ["NS-AUC/as-published", "NS-AUC / as-published", ""]
    assert measured(tab, page, "verdict=ok&metric=AUC/as-defined", chosen) == [
        "AUC/as-defined",
        "AUC / as-defined",
        "ok",
    ]
    tab.click("#filters button[type=reset]")
    assert (tab.evaluate(chosen), tab.evaluate("location.hash")) == (usual, "")


def test_a_cell_opens_its_evidence(page: Path, made_up: Plan, tab: Tab) -> None:
    planned = planned_of(made_up.cells[2])
    document = rendered(tab, page, f"cell={planned.key[:12]}")
    panel = document[document.index("<dialog") :]
    assert re.match(r"<dialog[^>]* open", panel)
    for told in (
        "harness run --method als_wr --dataset synthetic --seed 17263407",
        f"harness audit {planned.key[:12]} --replay 1",
        planned.image_tree,
        planned.dataset_digest,
        planned.split_digest,
        "50.0 MiB of 1.00 GiB",
        "predictions.npy",
        "fitting",
        "0.9829595929878049",
    ):
        assert told in panel, told
    pending = rendered(tab, page, f"cell={planned_of(made_up.cells[5]).key[:12]}")
    assert "No run, no scores." in pending


_PANEL = "[panel.open, document.getElementById('panel-title').textContent, panel.textContent]"


def test_a_whole_key_opens_its_evidence_and_an_unknown_one_is_told(page: Path, made_up: Plan, tab: Tab) -> None:
    key = planned_of(made_up.cells[2]).key
    is_open, title, told = measured(tab, page, f"cell={key}", _PANEL)
    assert is_open and title.startswith("als_wr on synthetic") and key in told
    # a key of this page and more, another one, and what is no key at all
    for unknown in (f"{key[:12]}{'g' * 8}", "0" * 12, "cell-99", "<b>"):
        is_open, title, told = measured(tab, page, f"cell={unknown}", _PANEL)
        assert is_open and title == "No such cell"
        assert f"begins with {unknown}." in told and "plan made-up" in told and "harness show KEY" in told
    tab.click(".close")
    assert tab.evaluate("[panel.open, location.hash]") == [False, ""]


@pytest.mark.parametrize("unknown", ["999999", "-1", "length", "<b>"])
def test_a_number_that_the_page_has_not_is_told(page: Path, tab: Tab, unknown: str) -> None:
    """A link to a number of an earlier page: nothing would open, and nobody knew why."""
    is_open, title, told = measured(tab, page, f"runs={unknown}", _PANEL)
    assert is_open and title == "No such number" and f"has the place {unknown}." in told
    tab.click(".close")
    assert tab.evaluate("[panel.open, location.hash]") == [False, ""]


def test_the_beginning_of_several_keys_leads_to_each(page: Path, tab: Tab) -> None:
    tab.look()
    tab.go(page.as_uri())
    # two cells whose keys begin alike
    tab.evaluate("for (const one of cells.slice(0, 2)) one.key = `0123${one.key}`; location.hash = 'cell=0123'")
    tab.settle()
    is_open, title, _ = tab.evaluate(_PANEL)
    links = tab.evaluate("[...panel.querySelectorAll('li')].map(one => one.textContent)")
    assert (is_open, title, len(links)) == (True, "2 cells", 2)
    tab.click("#panel-body li:nth-child(2) a")
    assert [tab.evaluate("document.getElementById('panel-title').textContent")] == [links[1].partition(" ")[2]]


def test_the_panel_tells_a_reference_result_from_a_run_made_here(page: Path, tab: Tab) -> None:
    tab.go(page.as_uri())
    cell = '{ run: "harness run", key: "0123456789abcdef", reference: %s }'
    for reference, option in (("false", ""), ("true", "--reference ")):
        audit = f"harness audit {option}0123456789ab"
        assert tab.evaluate(f"commands({cell % reference})") == [
            ["harness run", "runs it again"],
            [audit, "audits it"],
            [f"{audit} --replay 1", "repeats it"],
        ]


def test_the_panel_says_where_a_run_is_of_an_earlier_image(page: Path, tab: Tab) -> None:
    tab.go(page.as_uri())
    cell = "{...cells[0], pins: {...cells[0].pins, image: %s}}"
    code = f"rests({cell}).querySelector('[data-evidence=code]').textContent"
    now, then = (tab.evaluate(code % image) for image in ("cells[0].pins.image", "'another'"))
    assert re.fullmatch(r"methods/als_wr, .*; tree [0-9a-f]{64}", now)
    assert then == f"{now}; the run is of an earlier image, and not of this code"
    # on a GPU it is another image
    tab.evaluate("data.methods['als_wr cuda'] = {...data.methods.als_wr, image: 'another'}; 0")
    assert tab.evaluate(code.replace("...cells[0],", "...cells[0], accelerator: 'cuda',", 1) % "'another'") == now


def test_the_panel_says_why_a_claim_is_undecided_and_a_score_is_missing(page: Path, tab: Tab) -> None:
    tab.go(page.as_uri())
    claims = [
        {
            "metric": "F1/x",
            "published": "1",
            "ours": None,
            "difference": None,
            "verdict": verdict,
            "reason": reason,
            "source": source,
        }
        for verdict, reason, source in (
            ("pending", "no run", "a table"),
            ("reproduced", "near", "a figure"),
            ("deviates", "far", "a table"),
            ("deviates", "far", "a figure"),
        )
    ]
    shown = f"claimGrid({{ claims: {json.dumps(claims)} }})"
    assert tab.evaluate(f"[...{shown}[1].children].map(one => one.textContent)") == [
        "pending: no run",
        "deviates: far",
    ]
    assert tab.evaluate(f"{shown}[2].textContent") == "Published in: a table; a figure"
    scores = "evidence({...cells[0], metrics: {}, verdict: %s}).map(one => one.textContent)"
    told = [tab.evaluate(scores % repr(verdict)) for verdict in ("ok", "error")]
    assert "No fresh scores: run harness score." in told[0]
    assert "No valid predictions, so no scores." in told[1]


def test_sizes_and_times_are_told_in_their_units(page: Path, tab: Tab) -> None:
    tab.go(page.as_uri())
    sizes = tab.evaluate("[undefined, 0, 1023, 1024, 1047552, 1048576, 1073741823, 1073741824].map(size)")
    assert sizes == [NOTHING, "0 B", "1023 B", "1.0 KiB", "1023.0 KiB", "1.0 MiB", "1024.0 MiB", "1.00 GiB"]
    assert tab.evaluate("[undefined, 0, 9.994, 10, 3600].map(seconds)") == [
        NOTHING,
        "0.00 s",
        "9.99 s",
        "10.0 s",
        "3,600.0 s",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("run `harness score` and `harness audit`.", "run [harness score] and [harness audit]."),
        # as GNU's programs quote: what a log says stays as it is
        ("can't open `a': no file", "can't open `a': no file"),
    ],
)
def test_what_stands_between_two_marks_is_code(page: Path, tab: Tab, text: str, told: str) -> None:
    tab.go(page.as_uri())
    parts = f"[...coded({json.dumps(text)}).childNodes].map(one => [one.nodeName, one.textContent])"
    shown = tab.evaluate(parts)
    assert "".join(f"[{word}]" if name == "CODE" else word for name, word in shown) == told


def test_every_score_stands_below_its_kind(page: Path, made_up: Plan, tab: Tab) -> None:
    state = f"cell={planned_of(made_up.cells[2]).key[:12]}"
    left = "c => Math.round(c.getBoundingClientRect().x)"
    places = f"[...document.querySelector('#panel-body table').rows].map(r => [...r.cells].map({left}))"
    found = measured(tab, page, state, places)
    assert len(found) > 5 and len(found[0]) == 3, "metric, as published, as defined"
    assert all(row == found[0] for row in found)


@pytest.fixture
def drugs(shown: Layout, tmp_path: Path) -> Path:
    """The page of two runs on drug interactions, one of which left items out and has no value in S2."""
    few = {
        "S1 items/as-published": "128 of 208 are in whole batches of 128",
        "S2 F1/as-published": "no item is scored in this setting",
        "S2 kappa/as-published": "no item is scored in this setting",
    }
    nothing = {"S1 F1/as-published": 0.426, "S2 F1/as-published": None, "S2 kappa/as-published": None}
    cells = (drug_cell("mlp", nothing, few), drug_cell("sagan", {**nothing, "S2 F1/as-published": 0.3}, {}))
    page = tmp_path / "drugs.html"
    page.write_bytes(render(make_report(shown, Table("drugs", 2, cells, 0))))
    return page


def test_a_number_says_what_it_leaves_out(drugs: Path, tab: Tab) -> None:
    document = rendered(tab, drugs, "cell=cell-0")
    matrix, rest = document.split('id="cells"', 1)
    assert matrix.count("<sup") == 2 and ">S1 items: 128 of 208 are in whole batches of 128</li>" in matrix
    assert ">S2 F1: no item is scored in this setting</li>" in matrix
    assert [row[5:7] for row in rows(document)] == [["0.4260[1]", f"{NOTHING}[2]"], ["0.4260", "0.3000"]]
    panel = rest[rest.index("<dialog") :]
    assert "S1 items/as-published: 128 of 208" in panel
    assert "S2 F1/as-published, S2 kappa/as-published: no item is scored" in panel


def test_cells_show_the_metric_of_the_matrix_and_whole_names(evidence: Layout, tab: Tab, tmp_path: Path) -> None:
    """Of data of which nothing is published both are as defined. A cell without a value names no metric."""
    both: dict[str, float | None] = {"S1 F1/as-published": 0.25, "S1 F1/as-defined": 0.75}
    own, waiting = drug_cell("mlp", both, {}), drug_cell("drug_frequency", {}, {})
    job = own.cell.job.model_copy(update={"dataset": "drugbank"})
    published = replace(own, cell=replace(own.cell, job=job))
    page = tmp_path / "drugs.html"
    for cells, shown in (
        ((own, waiting), ["0.7500", NOTHING]),
        ((own, published), ["S1 F1 / as-defined 0.7500", "S1 F1 / as-published 0.2500"]),
    ):
        table = Table("drugs", 2, cells, 0, unpublished=frozenset({"synthetic_ddi"}))
        page.write_bytes(render(make_report(evidence, table)))
        document = rendered(tab, page, "")
        matrix, rest = document.split('id="cells"', 1)
        assert "0.7500" in matrix and sorted(row[5] for row in rows(document)) == sorted(shown)
        assert re.search(r"<td[^>]*><span>synthetic_ddi<wbr>", rest)


def test_no_column_of_the_cells_is_cut_off(page: Path, drugs: Path, tab: Tab) -> None:
    width = "(table => [table.scrollWidth, table.parentElement.clientWidth])(document.querySelector('.cells'))"
    for one in (drugs, page):
        needed, there = measured(tab, one, "", width)
        assert needed <= there


def test_a_hostile_log_and_reason_are_text(evidence: Layout, tab: Tab) -> None:
    plan = plan_of(evidence)
    planned = planned_of(plan.cells[4])
    put_run(evidence, planned, verdict=Verdict.ERROR, reason=printable(HOSTILE), log=HOSTILE + "\n")
    page = write_report(evidence, table_of(evidence, plan))
    document = rendered(tab, page, f"cell={planned.key[:12]}")
    assert "<title>made-up · Permafrost status</title>" in document
    assert '<img src="x"' not in document
    assert "&lt;/script&gt;&lt;script&gt;" in document
    assert len(rows(rendered(tab, page, ""))) == 6


def test_an_empty_plan_is_a_page(shown: Layout) -> None:
    text = render(make_report(shown, table_of(shown, Plan("none", ())))).decode()
    assert "<strong>0</strong>" in text


def test_a_page_without_claims_has_no_empty_section(shown: Layout, made_up: Plan) -> None:
    report = make_report(shown, table_of(shown, made_up))
    assert b'id="claims"' not in render(replace(report, books=()))
    assert b'id="claims"' in render(replace(report, books=(Book("repurposing", ("nobody",), ()),)))
