"""What the documentation says exists, and generated pages are current."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import click
import pytest

from harness import benchmarks
from harness.base.layout import Layout
from harness.benchmarks.ddi.study import page
from harness.benchmarks.ddi.study.data_facts import SplitFacts
from harness.cli import group
from harness.compare import load_names
from harness.methods import page as cards
from harness.methods.card import load_methods
from harness.planning.suites import jobs_of, load_suite
from harness.results import findings
from harness.study.measurements import load_measured
from tests.conftest import REPOSITORY

_PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]
_LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")
# a path of ours in code; NAME and the like stand for any name
_PATH = re.compile(
    r"`((?:harness|methods|containers|datasets|results|tests|benchmarks|scripts|requirements)/[\w./*-]+)`"
)
_ANY = re.compile(r"\b[A-Z][A-Z_]+\b(?![.]md)")
_MODULE = re.compile(r"`(harness(?:[.][a-z_]\w*)+)((?:[.][A-Z]\w*)*)")
# made by commands, or by a person
_NOT_HERE = re.compile(
    "results/local|datasets/[^/]+/(own|first_seen.json)|(methods|containers)/(my_method|neighbours)"
)


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text()) if "://" not in link[0]]
    wrong = [name for name, place in links if not _leads(page.parent / name if name else page, place)]
    assert wrong == []


def _leads(page: Path, place: str) -> bool:
    """Whether there is such a file, with such a heading where one is named."""
    if not place or page.suffix != ".md":
        return page.exists()
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    return page.exists() and place in anchors


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_paths_that_are_named_exist(page: Path) -> None:
    names = {_ANY.sub("*", name) for name in _PATH.findall(page.read_text())}
    assert {name for name in names if not _NOT_HERE.match(name) and not [*REPOSITORY.glob(name)]} == set()


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_modules_that_are_named_exist(page: Path) -> None:
    wrong = [
        f"{name}{member}" for name, member in _MODULE.findall(page.read_text()) if not _is_there(name, member)
    ]
    assert wrong == []


def _is_there(name: str, member: str) -> bool:
    owner, _, last = name.rpartition(".")
    if find_spec(name.partition(".")[0]) is None:
        return False
    try:
        module = import_module(name)
    except ModuleNotFoundError:
        return hasattr(import_module(owner), last)
    return not member or hasattr(module, member.split(".")[1])


def test_every_page_can_be_found_from_the_first_one() -> None:
    left, seen = [REPOSITORY / "docs" / "README.md"], set[Path]()
    while left:
        page = left.pop()
        if page not in seen and page.suffix == ".md" and page.exists():
            seen.add(page)
            left += [(page.parent / name).resolve() for name, _ in _LINK.findall(page.read_text()) if name]
    assert {page.relative_to(REPOSITORY) for page in _PAGES if page not in seen} == set()


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
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
    measured = load_measured(repository, "ddi", SplitFacts)
    assert measured is not None
    assert (REPOSITORY / "docs" / "consistency.md").read_text() == page.markdown(measured), (
        "run: harness split consistency --markdown > docs/consistency.md"
    )


def test_every_finding_is_demonstrated(repository: Layout) -> None:
    for members in findings.all_findings(repository).values():
        assert all(one.shown_by for one in members)
        for demonstration in chain.from_iterable(one.shown_by for one in members):
            path, _, name = demonstration.partition("::")
            shown = name and f"def {name}(" in (repository.root / path).read_text(encoding="utf-8")
            assert shown or understood(demonstration), demonstration


def understood(line: str) -> bool:
    """Whether `harness` takes these words: each a command, an argument or an option of its own. Nothing runs."""
    # a folder of a person's own
    program, *words = (word.replace("DIR", ".") for word in shlex.split(line))
    command: click.Command | None = group
    context = click.Context(group, info_name=program)
    while isinstance(command, click.Group):
        _, command, words = command.resolve_command(context, words)
        assert command is not None
        context = click.Context(command, info_name=command.name, parent=context)
    assert command is not None
    command.parse_args(context, words)
    return program == "harness"


@pytest.mark.parametrize("line", ["harness list methods --nobody", "harness lists", "harness log 1 --seed"])
def test_a_command_that_does_not_exist_is_not_understood(line: str) -> None:
    with pytest.raises(click.ClickException):
        understood(line)


def test_the_first_page_counts_the_systems_that_are_planned(repository: Layout) -> None:
    rows = re.findall(r"^\| \[?`(\w+)`[^|]* \| (\d+): ", (REPOSITORY / "README.md").read_text(), re.MULTILINE)
    (total,) = re.findall(r"The (\d+) systems of four papers", (REPOSITORY / "README.md").read_text())
    own = {name for benchmark in benchmarks.names() for name in load_names(repository, benchmark).own_methods}
    systems = [card for card in load_methods(repository) if not card.control and card.name not in own]
    assert {name: int(count) for name, count in rows} == Counter(
        name for card in systems for name in card.benchmarks
    )
    assert int(total) == len(systems)
    planned = {job.method for job in jobs_of(repository, load_suite("full"))}
    assert {card.name for card in systems} <= planned


def test_what_a_card_calls_a_finding_is_one_of_its_benchmark(repository: Layout) -> None:
    for benchmark, members in findings.all_findings(repository).items():
        entries = Counter(name for one in members for name in one.methods)
        known = {card.name: card for card in load_methods(repository, benchmark)}
        assert set(entries) <= set(known)
        for name, card in known.items():
            told = [card.summary, *(variant.summary for variant in card.variants.values())]
            assert " ".join(told).count("Finding:") <= entries[name], f"{name}: a finding has no entry"
