"""What the documentation says exists, and generated pages are current."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.study import page
from harness.benchmarks.ddi.study.measured import load_measured
from harness.methods import page as cards
from harness.methods.card import load_methods
from harness.results import findings
from tests.conftest import REPOSITORY

_PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_commands_that_are_shown_exist(page: Path) -> None:
    from harness.cli import _COMMANDS

    shown = set(re.findall(r"`harness ([a-z]+)", page.read_text())) | set(
        re.findall(r"^(?:\.venv/bin/)?harness ([a-z]+)", page.read_text(), re.MULTILINE)
    )
    assert shown <= set(_COMMANDS)


def test_the_page_of_method_cards_is_current(repository: Layout) -> None:
    page = REPOSITORY / "docs" / "methods.md"
    assert page.read_text() == cards.markdown(load_methods(repository)), (
        "run: harness list methods --markdown > docs/methods.md"
    )


def test_the_page_of_findings_is_current(repository: Layout) -> None:
    page = REPOSITORY / "docs" / "findings.md"
    assert page.read_text() == findings.markdown(findings.all_findings(repository)), (
        "run: harness list findings --markdown > docs/findings.md"
    )


def test_the_page_of_consistency_is_current(repository: Layout) -> None:
    measured = load_measured(repository, "ddi")
    assert measured is not None
    assert (REPOSITORY / "docs" / "consistency.md").read_text() == page.markdown(measured), (
        "run: harness split consistency --markdown > docs/consistency.md"
    )


def test_every_finding_is_demonstrated(repository: Layout) -> None:
    for members in findings.all_findings(repository).values():
        assert all(one.shown_by for one in members)
        assert findings.missing_demonstrations(repository, members) == []


def test_what_a_card_calls_a_finding_is_one_of_its_benchmark(repository: Layout) -> None:
    for benchmark, members in findings.all_findings(repository).items():
        entries = Counter(name for one in members for name in one.methods)
        known = {card.name: card for card in load_methods(repository, benchmark)}
        assert set(entries) <= set(known)
        for name, card in known.items():
            told = [card.summary, *(variant.summary for variant in card.variants.values())]
            assert " ".join(told).count("Finding:") <= entries[name], f"{name}: a finding has no entry"
