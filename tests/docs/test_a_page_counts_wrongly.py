"""Lists and numbers in pages that follow from the repository are those of the repository."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from harness import api
from harness.data.manifest import load_manifest
from harness.images.cards import environment_chain
from harness.images.preparation import overview, recorded_size
from harness.methods.card import load_methods, method_names
from harness.planning.needs import run_kind
from harness.planning.suites import load_suite, suite_names
from harness.results.durations import reference_seconds
from tests.conftest import REPOSITORY

_PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *(REPOSITORY / "docs").rglob("*.md")]


def test_every_method_stands_at_its_environment() -> None:
    """The tree in containers/README.md: who adds a package to an environment sees which methods it concerns."""
    layout = api.open_repository(REPOSITORY).layout
    methods, expected = set(method_names(layout)), defaultdict[str, set[str]](set)
    for path in layout.containers.glob("*/environment.toml"):
        card, name = tomllib.loads(path.read_text()), path.parent.name
        if name in methods and not {*card} - {"summary", "extends", "language"}:
            expected[card["extends"]].add(name)
        else:
            expected[name] |= set()

    page = (layout.containers / "README.md").read_text()
    entries = re.findall(r"^    (?:[| ]*[|`]-- )?(\w+)(?:  +(.*(?:\n    [| ]{16,}[a-z]\w+.*)*))?$", page, re.M)
    told = {name: {word for word in re.findall(r"\w+", text) if word in methods} for name, text in entries}
    controls = {card.name for card in load_methods(layout) if card.control}
    told["_numpy"] |= controls - set().union(*told.values())
    assert "every control that stands nowhere else" in page
    assert told == expected


def test_who_adds_a_method_is_told_its_suites() -> None:
    page = (REPOSITORY / "docs" / "adding-a-method.md").read_text()
    (sentence,) = re.findall(r"It appears in every suite that asks for all methods of its benchmark: .*?\.", page)
    told = set(re.findall(r"`([\w-]+)`", re.sub(r"`dti-test0` to `dti-test6`", _each("dti-test", 7), sentence)))
    suites = {name for name in suite_names() if any(not block.methods for block in load_suite(name).blocks)}
    assert told - {"ddi", "dti", "combos"} == suites


def _each(beginning: str, count: int) -> str:
    return " ".join(f"`{beginning}{number}`" for number in range(count))


def test_what_everything_would_cost_is_as_the_reference_results_say() -> None:
    """docs/cluster.md, to a twentieth: results are added all the time."""
    here = api.open_repository(REPOSITORY)
    cells = api.plan(suite="full", make_splits=False, repository=here).cells
    left = [cell.job for cell in cells if cell.can_run]
    seconds = reference_seconds(here.layout, left)
    known = [seconds[kind] for job in left if (kind := run_kind(job)) in seconds]

    page = (REPOSITORY / "docs" / "cluster.md").read_text()
    pattern = (
        r"([\d,]+) cells; ([\d,]+) can be run from public data .*?"
        r"\| ([\d,]+), in ([\d,]+) CPU hours; the longest takes ([\d.]+) hours, ([\d,]+) less than a minute \|.*?"
        r"\| the other ([\d,]+) \|"
    )
    match = re.search(pattern, page, re.DOTALL)
    assert match is not None
    numbers = [float(number.replace(",", "")) for number in match.groups()]
    assert numbers[:2] == [len(cells), len(left)]
    short = sum(one < 60 for one in known)
    assert numbers[2:6] == pytest.approx([len(known), sum(known) / 3600, max(known) / 3600, short], rel=0.05)
    assert numbers[6] == numbers[1] - numbers[2]


def test_every_dataset_is_listed_with_its_counts() -> None:
    """The tables in docs/data.md, against what each manifest must show."""
    layout = api.open_repository(REPOSITORY).layout
    manifests = (load_manifest(layout, path.parent.name) for path in layout.datasets.glob("*/dataset.toml"))
    expected = {one.name: set(re.findall(r"\d+", one.statistics.line)) for one in manifests}
    page = (REPOSITORY / "docs" / "data.md").read_text().partition("A dataset is one folder")[0]
    rows = {name: row.replace(",", "") for name, row in re.findall(r"^\| `(\w+)` \| (.*\d.*)", page, re.MULTILINE)}
    assert rows.keys() == expected.keys()
    assert {name: numbers - set(re.findall(r"\d+", rows[name])) for name, numbers in expected.items()} == {
        name: set() for name in expected
    }


def test_images_are_as_large_as_they_are_said_to_be() -> None:
    """docs/disk.md and docs/air-gap.md: who has little disk, or a small one to carry, decides by it."""
    layout = api.open_repository(REPOSITORY).layout
    images = {row["name"]: row["bytes"] for row in overview(layout) if row["kind"] == "method"}
    # with what compiles and installs it
    stored = {name: recorded_size(layout, [name]) for name in images}
    chains = {name: [environment.name for environment in environment_chain(layout, name)] for name in images}
    heavy = {name for name, chain in chains.items() if "_torch" in chain}

    def bounds(sizes: dict[str, int]) -> list[int]:
        light = [size for name, size in sizes.items() if name not in heavy]
        return [min(light), max(light), min(sizes[name] for name in heavy), max(sizes[name] for name in heavy)]

    disk, carried = ((REPOSITORY / "docs" / page).read_text() for page in ("disk.md", "air-gap.md"))
    told = re.search(r"([\d.]+) to ([\d.]+) GB a language, ([\d.]+) to ([\d.]+) GB with PyTorch", disk)
    assert told is not None
    assert [float(one) for one in told.groups()] == [round(one / 1e9, 1) for one in bounds(stored)]
    told = re.search(r"(\d+) to (\d+) MB for each language; PyTorch ([\d.]+) to ([\d.]+) GB", carried)
    assert told is not None
    *light, least, most = bounds(images)
    expected = [*(round(one / 1e7) * 10 for one in light), round(least / 1e9, 1), round(most / 1e9, 1)]
    assert [float(one) for one in told.groups()] == expected


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_a_run_that_is_shown_says_what_is_to_be_run(page: Path) -> None:
    """Without a suite, `harness run` asks for a method, a dataset and a seed: an example must have them all."""
    blocks = re.findall(r"```\w*\n(.*?)```", page.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    for line in lines:
        if match := re.match(r"(?:\$ )?(?:\./run_all\.sh|(?:\.venv/bin/)?harness run) .*--method.*", line):
            words = {word.partition("=")[0] for word in shlex.split(match[0], comments=True)}
            assert "--dataset" in words and words & {"--seed", "--published-seeds"}, line
