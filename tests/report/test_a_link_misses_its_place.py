"""A link must show what it names, at once: a smooth scroll or a guessed height leaves a reader elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.report.devtools import Tab

# Below the sticky line of links, and not farther down than its height and a line of text.
_NEAR = 80
# The place of an element one frame after a link was followed.
_AFTER = """(link => {{ link.click(); const frame = requestAnimationFrame;
  return new Promise(done => frame(() => frame(() =>
    done(document.querySelector({target!r}).getBoundingClientRect().top))));
}})(document.querySelector({link!r}))"""


@pytest.mark.parametrize("width", [1280, 400])
def test_every_section_is_shown_where_it_begins(page: Path, tab: Tab, width: int) -> None:
    tab.look(width=width, moving=True)
    tab.go(page.as_uri())
    sections = re.findall(r'<a href="#(\w+)">', page.read_text().partition("<nav")[2].partition("</nav>")[0])
    assert {"matrix", "cells", "study", "claims", "methods", "reading"} <= set(sections)
    # from below, from above, and over what has not been seen yet
    for name in (*sections[::-1], *sections):
        top = tab.evaluate(_AFTER.format(link=f'nav a[href="#{name}"]', target=f"#{name}"))
        is_last = tab.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 1")
        assert 0 <= top < _NEAR or (is_last and top < 900), name


def test_a_filtered_view_is_on_the_screen(page: Path, tab: Tab) -> None:
    tab.look(moving=True)
    for opened in ("by its address", "by a click"):
        if opened == "by its address":
            tab.go(f"{page.as_uri()}#verdict=error")
        else:
            tab.go(page.as_uri())
            tab.click('.tile[href="#verdict=error"]')
        top = tab.evaluate("document.getElementById('cells').getBoundingClientRect().top")
        assert 0 <= top < _NEAR, opened
        assert tab.evaluate("document.querySelectorAll('#rows tr').length") == 1


def test_nothing_is_drawn_by_a_guessed_height(page: Path) -> None:
    style = page.read_text().partition("<style>")[2].partition("</style>")[0].partition("@media print")[0]
    assert "content-visibility" not in style and "scroll-behavior" not in style
