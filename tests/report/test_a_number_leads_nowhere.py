"""Every number must lead to record, log, code, lock and split within two clicks, on the page and on the site."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.report.devtools import Tab

KINDS = {"record", "log", "code", "lock", "split"}
_NUMBER = "a.rests"
# The kinds of evidence that are in view with a digest: of the set of runs that the address names, or of the panel.
_IN_VIEW = """(() => {
  const panel = document.querySelector("dialog[open]"), target = document.getElementById(location.hash.slice(1));
  let parts = panel ? [panel] : [];
  if (target?.matches("tr")) parts = [target, target.closest(".scroll").previousElementSibling];
  if (target?.matches("h3"))
    for (let at = target.nextElementSibling; at && !at.matches("h3"); at = at.nextElementSibling) parts.push(at);
  return parts.flatMap(part => [...part.querySelectorAll("[data-evidence]")])
    .filter(one => /[0-9a-f]{12}/.test(one.textContent) && one.getClientRects().length)
    .map(one => one.dataset.evidence);
})()"""


def _reach(tab: Tab, address: str, place: int) -> set[str]:
    """The kinds of evidence that two clicks, the first on one number of a page, bring into view."""
    tab.go(address)
    tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    tab.evaluate(f"document.querySelectorAll('{_NUMBER}')[{place}].id = 'chosen'")
    tab.click("#chosen")
    tab.wait_until(f"{_IN_VIEW}.length || document.querySelector('details:target')")
    if tab.evaluate("Boolean(document.querySelector('details:target'))"):
        # a number of several sets of runs: the list of these is in view, and one of them is chosen
        tab.evaluate("document.querySelector('details:target a').id = 'second'")
        tab.click("#second")
        tab.wait_until(f"{_IN_VIEW}.length")
    return set(tab.evaluate(_IN_VIEW))


def test_twenty_numbers_of_study_and_claims_reach_their_evidence(site: Path, tab: Tab) -> None:
    tab.look()
    pages = sorted(path for path in (site / "claims").glob("*.html") if 'class="rests"' in path.read_text())
    assert len(pages) > 20
    choice = random.Random(20240523)
    for _ in range(20):
        page = choice.choice(pages)
        place = choice.randrange(page.read_text().count('class="rests"'))
        assert _reach(tab, page.as_uri(), place) == KINDS, f"{page.name}, number {place}"


def test_numbers_of_several_methods_reach_their_evidence(site: Path, tab: Tab) -> None:
    page = site / "claims" / "repurposing-figure-2b.html"
    assert _reach(tab, page.as_uri(), 0) == KINDS


def test_a_number_of_the_page_opens_its_evidence(page: Path, tab: Tab) -> None:
    tab.look()
    numbers = len(re.findall('class="rests"', page.read_text()))
    assert numbers > 3
    for place in range(0, numbers, max(1, numbers // 8)):
        assert _reach(tab, page.as_uri(), place) == KINDS, f"number {place}"


def test_a_sheet_that_leads_nowhere_has_no_number_of_ours(site: Path) -> None:
    for page in sorted((site / "claims").glob("*.html")):
        sheet, _, claims = page.read_text().partition("<main")[2].partition('id="numbers"')
        assert 'class="rests"' in sheet or 'class="rests"' not in claims or "<h2>" not in sheet, page.name
    data_alone = [
        page.name for page in (site / "claims").glob("*.html") if "Of the data alone" in page.read_text()
    ]
    assert "combos-table-2-7.html" in data_alone and "ddi-table-10.html" not in data_alone


def test_no_link_of_the_site_is_broken(site: Path) -> None:
    pages = {path: path.read_text() for path in site.rglob("*.html")}
    marks = {path: set(re.findall(r' id="([^"]+)"', text)) for path, text in pages.items()}
    for path, text in pages.items():
        for href in set(re.findall(r'<a [^>]*href="([^"]+)"', text)):
            if href.startswith("https://") or href.startswith("http://"):
                continue
            name, _, mark = href.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.is_file(), f"{path.name}: {href}"
            assert not mark or mark in marks[target], f"{path.name}: {href}"


@pytest.mark.parametrize("name", ["index.html", "methods/bnnr.html", "claims/ddi-table-10.html"])
def test_every_page_tells_the_result_of_the_artifact(site: Path, name: str) -> None:
    footer = (site / name).read_text().partition("<footer>")[2]
    for words in ("reproduced", "deviating", "undecided", "cells:", "Audit of", "Signature of"):
        assert words in footer
