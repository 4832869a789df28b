"""Readers with a keyboard, a narrow screen, a dark one, paper, or a voice must get what all others get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.planning.plan import Plan
from tests.fabricate import planned_of
from tests.judges import judge
from tests.report.devtools import Tab

_LOOKS = ({"dark": False, "width": 1280}, {"dark": True, "width": 1280}, {"dark": False, "width": 390})
_PAGES = (
    "index.html",
    "methods/bnnr.html",
    "datasets/hdvd.html",
    "claims/repurposing-table-7.html",
    "claims/ddi-figure-6.html",
    "findings/ddi-5.html",
)
_VIOLATIONS = """axe.run().then(result => result.violations.map(one =>
  `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" | ")}`))"""


@pytest.fixture(scope="session")
def axe() -> str:
    (script,) = judge("proof").parent.rglob("axe_playwright_python/axe.min.js")
    return script.read_text(encoding="utf-8")


def _unfold(tab: Tab) -> None:
    tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


@pytest.mark.parametrize(
    "look",
    [_LOOKS[0], *(pytest.param(look, marks=pytest.mark.thorough) for look in _LOOKS[1:])],
    ids=["light", "dark", "narrow"],
)
def test_axe_finds_nothing_on_the_site(site: Path, tab: Tab, axe: str, look: dict[str, Any]) -> None:
    tab.look(**look)
    for name in _PAGES:
        tab.go((site / name).as_uri())
        _unfold(tab)
        tab.evaluate(axe)
        assert tab.evaluate(_VIOLATIONS) == [], name
        assert tab.evaluate("document.documentElement.scrollWidth") <= look["width"], f"{name} scrolls sideways"


@pytest.mark.parametrize("look", _LOOKS, ids=["light", "dark", "narrow"])
def test_axe_finds_nothing_beside_a_run_that_is_found(
    site: Path, tab: Tab, axe: str, look: dict[str, Any]
) -> None:
    tab.look(**look)
    tab.go((site / "index.html").as_uri())
    key = (site / "keys" / "0.js").read_text().partition('["0')[2][:7]
    tab.evaluate(f"form.elements.q.value = '0{key}'; find()")
    tab.wait_until("document.querySelector('#runs a')")
    tab.evaluate(axe)
    assert tab.evaluate(_VIOLATIONS) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= look["width"]


@pytest.mark.parametrize("look", _LOOKS, ids=["light", "dark", "narrow"])
@pytest.mark.parametrize("panel", ["", "cell", "runs", "unknown"])
def test_axe_finds_nothing_on_the_page(
    page: Path, made_up: Plan, tab: Tab, axe: str, look: dict[str, Any], panel: str
) -> None:
    tab.look(**look)
    key = planned_of(made_up.cells[2]).key[:12]
    state = {"": "", "cell": f"#cell={key}", "runs": "#runs=0", "unknown": "#cell=unknown"}[panel]
    tab.go(f"{page.as_uri()}{state}")
    assert tab.evaluate("document.getElementById('panel').open") == bool(panel)
    _unfold(tab)
    tab.evaluate(axe)
    assert tab.evaluate(_VIOLATIONS) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= look["width"]


def test_heads_stand_over_their_numbers(site: Path, page: Path, tab: Tab) -> None:
    tab.look()
    edges = """[...document.querySelectorAll("table")].flatMap(table => {
      const heads = [...table.tHead.rows[0].cells], sides = cell => {
        const box = cell.getBoundingClientRect(), style = getComputedStyle(cell);
        return [Math.round(box.left), Math.round(box.right), style.textAlign === "right"];
      };
      return [...table.tBodies[0].rows].slice(0, 4).flatMap(row => [...row.cells].map((cell, at) =>
        [String(sides(cell)) === String(sides(heads[at])), heads[at].textContent]));
    }).filter(([same]) => !same).map(([, head]) => head)"""
    for address in (page, *(site / name for name in _PAGES)):
        tab.go(address.as_uri())
        _unfold(tab)
        assert tab.evaluate(edges) == [], address.name


def test_heads_stay_while_a_table_is_scrolled(site: Path, tab: Tab) -> None:
    tab.look()
    tab.go((site / "index.html").as_uri())
    tops = """(box => { box.scrollTop = 300; const head = box.querySelector("thead th");
      return [head.getBoundingClientRect().top, box.getBoundingClientRect().top + box.clientTop]; })"""
    head, box = tab.evaluate(f"{tops}(document.querySelector('#methods .scroll'))")
    assert abs(head - box) < 1.5


# Of every text that is seen, the words whose letters stand on several lines; an address may break anywhere.
_BROKEN = """(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), broken = new Set();
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (text.parentElement.closest("a[href^=http], code, pre, script, style")) continue;
    for (const word of text.data.matchAll(/[^\\s/_=-]{2,18}/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.add(word[0]);
    }
  }
  return [...broken];
})()"""


def test_no_word_or_number_is_broken_on_a_narrow_screen(site: Path, page: Path, tab: Tab) -> None:
    tab.look(width=390)
    for address in (page, *(site / name for name in _PAGES)):
        tab.go(address.as_uri())
        _unfold(tab)
        # as many cells as the whole plan has
        tab.evaluate("for (const one of document.querySelectorAll('.tile .count')) one.textContent = '12,345'")
        assert tab.evaluate(_BROKEN) == [], address.name


def _focus(tab: Tab) -> str:
    return str(tab.evaluate("(one => one.id || one.className || one.tagName)(document.activeElement)"))


def test_the_keyboard_alone_opens_and_closes_evidence(page: Path, tab: Tab) -> None:
    tab.look()
    tab.go(page.as_uri())
    tab.press("Tab")
    assert _focus(tab) == "skip"
    tab.press("Enter")
    for _ in range(40):
        tab.press("Tab")
        if "open" in _focus(tab).split():
            break
    opener = tab.evaluate("document.activeElement.textContent")
    assert opener
    tab.press("Enter")
    assert tab.evaluate("document.getElementById('panel').open")
    tab.press("Escape")
    assert not tab.evaluate("document.getElementById('panel').open")
    assert tab.evaluate("document.activeElement.textContent") == opener, "the focus is where it was"


def test_the_focus_returns_to_a_number_and_to_a_row(page: Path, tab: Tab) -> None:
    tab.look()
    tab.go(page.as_uri())
    _unfold(tab)
    tab.evaluate("document.querySelector('a.rests').id = 'number'")
    for chosen, focus in (("#number", "number"), ("#rows tr:first-child td:nth-child(3)", "open key")):
        tab.click(chosen)
        assert tab.evaluate("document.getElementById('panel').open"), chosen
        tab.click(".close")
        assert not tab.evaluate("document.getElementById('panel').open")
        assert _focus(tab) == focus


def test_a_view_of_the_table_outlives_a_panel(page: Path, tab: Tab) -> None:
    tab.look()
    tab.go(f"{page.as_uri()}#verdict=ok&sort=score")
    _unfold(tab)
    assert tab.evaluate("scrollY") > 0, "the view that was linked is on the screen"
    tab.evaluate("document.querySelector('a.rests').id = 'number'")
    tab.click("#number")
    tab.press("Escape")
    assert tab.evaluate("location.hash") == "#verdict=ok&sort=score"
    assert tab.evaluate("document.querySelectorAll('#rows tr').length") == 3


def test_paper_shows_whole_tables_notes_and_details(site: Path, tab: Tab) -> None:
    tab.look(paper=True)
    tab.go((site / "claims" / "repurposing-table-7.html").as_uri())
    shown = "(one => one.scrollHeight <= one.clientHeight + 1 && getComputedStyle(one).overflow === 'visible')"
    assert tab.evaluate(f"[...document.querySelectorAll('.scroll')].every({shown})")
    assert tab.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert tab.evaluate("getComputedStyle(document.querySelector('thead')).display") == "table-header-group"
    assert tab.evaluate("document.querySelector('.sources li').getClientRects().length") > 0
    tab.look()


def test_paper_shows_every_column_of_the_cells(page: Path, tab: Tab) -> None:
    tab.look(paper=True, width=718)
    tab.go(page.as_uri())
    edges = "[...document.querySelectorAll('#heads th')].map(one => Math.round(one.getBoundingClientRect().right))"
    rights = tab.evaluate(edges)
    assert len(rights) > 9 and max(rights) <= 718
    tab.look()


def test_no_verdict_is_told_by_colour_alone(site: Path, page: Path) -> None:
    import re

    for path in (page, site / "index.html", site / "claims" / "ddi-table-10.html"):
        chips = re.findall(r'<span class="chip [vc]-([a-z-]+)">(.*?)</span>(?!<)', path.read_text())
        assert chips
        for verdict, inner in chips:
            text = re.sub(r'<b aria-hidden="true">.</b>', "", inner)
            assert text != inner, "a sign"
            assert verdict in text or "undecided" in text, f"a word: {inner}"


def test_notes_are_no_tooltips(site: Path, page: Path) -> None:
    for path in (page, *site.rglob("*.html")):
        body = path.read_text().partition("<body>")[2].partition("<script")[0]
        assert ' title="' not in body, path.name


def test_no_table_is_cut_on_paper(site: Path, tab: Tab) -> None:
    tab.look(paper=True, width=718)
    rights = "[...document.querySelectorAll('table')].map(one => Math.round(one.getBoundingClientRect().right))"
    for name in ("claims/repurposing-table-14", "claims/ddi-table-4", "methods/als_wr", "datasets/hdvd"):
        tab.go((site / f"{name}.html").as_uri())
        _unfold(tab)
        # a browser shrinks a page to half of its size at most
        assert 0 < max(tab.evaluate(rights)) < 2 * 718, name
    tab.look()


def test_a_page_of_a_method_stays_on_a_narrow_screen(site: Path, tab: Tab) -> None:
    tab.look(width=390)
    for path in sorted((site / "methods").glob("*.html")):
        tab.go(path.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, path.name
    tab.look()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_a_number_stands_beside_its_verdict(site: Path, tab: Tab, width: int) -> None:
    tab.look(width=width)
    tab.go((site / "index.html").as_uri())
    tops = """[...document.querySelectorAll(".standing .chip")].map(chip => {
      const range = document.createRange(), number = chip.nextSibling;
      range.setStart(number, number.data.search(/[0-9]/));
      range.setEnd(number, number.data.trimEnd().length);
      return Math.abs(range.getBoundingClientRect().top - chip.getBoundingClientRect().top) < chip.offsetHeight;
    })"""
    beside = tab.evaluate(tops)
    assert len(beside) > 3 and all(beside)
    tab.look()


def test_a_digest_fills_two_lines_and_not_a_column(site: Path, tab: Tab) -> None:
    tab.look(width=390)
    tab.go((site / "methods" / "bnnr.html").as_uri())
    heights = "[...document.querySelectorAll('#code td.hash')].map(one => one.offsetHeight)"
    assert 0 < max(tab.evaluate(heights)) < 70
    tab.look()
