"""A table must fit, or show that there is more of it; its lines stay where it is pushed aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.devtools import Tab

# Of each way in which a table was wider than its place: claims, sheets, and the runs of a method.
_ONCE_TOO_WIDE = (
    "claims/combos-figure-5",
    "claims/ddi-figure-5",
    "claims/ddi-table-4",
    "claims/ddi-table-10",
    "claims/dti-figure-5",
    "claims/dti-table-1",
    "claims/repurposing-fastai-collab-value-per-seed",
    "claims/repurposing-figure-3",
    "claims/repurposing-table-8",
    "claims/repurposing-table-14",
    "methods/bnnr",
    "methods/drug_frequency",
    "methods/word_ngrams",
)
_TOO_WIDE = """[...document.querySelectorAll(".scroll")].filter(one => one.scrollWidth > one.clientWidth)
  .map(one => `${one.getAttribute("aria-label")}: ${one.scrollWidth} in ${one.clientWidth}`)"""
_WIDE_MATRIX = "datasets/synthetic_ddi.html"


def _seen(tab: Tab, x: float, y: float, width: int, height: int) -> str:
    """A picture of a part of the page: of equal colours it is an equal text."""
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    return str(tab.send("Page.captureScreenshot", format="png", clip=clip)["data"])


def test_every_table_of_the_site_fits_a_usual_screen(site: Path, tab: Tab) -> None:
    tab.look(width=1280)
    for name in _ONCE_TOO_WIDE:
        tab.go((site / f"{name}.html").as_uri())
        tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert tab.evaluate("document.querySelectorAll('.scroll').length"), name
        assert tab.evaluate(_TOO_WIDE) == [], name


@pytest.mark.parametrize("dark", [False, True])
def test_an_edge_with_more_behind_it_has_a_shadow(site: Path, tab: Tab, dark: bool) -> None:
    tab.look(width=390, dark=dark)
    tab.go((site / "claims" / "repurposing-table-8.html").as_uri())
    # the table makes room for a picture of the edges alone
    left, top, width = tab.evaluate("""(box => {
      box.firstElementChild.replaceChildren();
      Object.assign(box.firstElementChild.style, { display: "block", width: "3000px", height: "200px" });
      box.scrollIntoView({ block: "center" });
      const at = box.getBoundingClientRect();
      return [at.left + box.clientLeft, scrollY + at.top + 90, box.clientWidth];
    })(globalThis.box = document.querySelector(".scroll:has(> .claims)"))""")
    middle = _seen(tab, left + width / 2, top, 4, 20)
    for scrolled, shadows in ((0, [False, True]), (500, [True, True]), (9999, [True, False])):
        tab.evaluate(f"box.scrollLeft = {scrolled}")
        tab.settle()
        assert [_seen(tab, x, top, 4, 20) != middle for x in (left, left + width - 4)] == shadows, scrolled
    tab.look()


def test_the_lines_of_a_column_that_stays_are_whole(site: Path, tab: Tab) -> None:
    tab.look()
    tab.go((site / "datasets" / "synthetic_ddi.html").as_uri())
    left, tops = tab.evaluate("""(box => {
      box.scrollLeft = 200;
      box.scrollIntoView();
      const rows = [...box.querySelectorAll("tbody tr")].slice(1, 6);
      return [rows[0].cells[0].getBoundingClientRect().left + 4,
        rows.map(row => scrollY + row.getBoundingClientRect().top)];
    })(document.querySelector(".scroll:has(> .matrix)"))""")
    assert len(tops) == 5
    for top in tops:
        assert _seen(tab, left, int(top) - 3, 1, 8) != _seen(tab, left, int(top) + 8, 1, 8), top


@pytest.mark.parametrize("width", [320, 390])
def test_every_link_of_the_navigation_is_in_sight(site: Path, page: Path, tab: Tab, width: int) -> None:
    tab.look(width=width)
    for address in (site / "index.html", site / "methods" / "bnnr.html", page):
        tab.go(address.as_uri())
        rights = tab.evaluate("[...document.querySelectorAll('nav a')].map(one => one.getClientRects()[0].right)")
        assert len(rights) > 4 and max(rights) <= width, address.name
    tab.look()
