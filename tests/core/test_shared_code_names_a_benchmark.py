"""What the harness shares knows benchmarks by their contract: naming one there means to edit it for the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import benchmarks
from harness.base.layout import Layout

NAMES = benchmarks.names()
OPTIONS = sorted({field for name in NAMES for field in benchmarks.get(name).options.model_fields})
# a name as a value; an option however it is written
WORDS = re.compile("|".join([*(f"[\"']{name}[\"']" for name in NAMES), *(rf"\b{option}\b" for option in OPTIONS)]))


def mentions(harness: Path) -> Iterator[str]:
    """File, line and word, outside the benchmarks' own packages."""
    own = {harness / "benchmarks" / name for name in NAMES}
    for path in sorted(harness.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and own.isdisjoint(path.parents):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                yield from (f"{path.relative_to(harness)}:{number}: {word}" for word in WORDS.findall(line))


def test_no_shared_file_names_one(repository: Layout) -> None:
    assert {"ddi", "repurposing"} <= set(NAMES) and "inner_folds" in OPTIONS
    assert list(mentions(repository.root / "harness")) == []


@pytest.mark.parametrize(
    ("place", "line", "word"),
    [
        ("cli/run.py", 'if job.benchmark == "ddi":', '"ddi"'),
        ("report/page/page.js", "row.benchmark === 'repurposing'", "'repurposing'"),
        ("benchmarks/answers.py", "models = job.inner_folds", "inner_folds"),
        ("methods/scaffold/templates/environment.toml.txt", 'benchmark = "ddi"', '"ddi"'),
    ],
)
def test_a_name_is_found_wherever_it_stands(tmp_path: Path, place: str, line: str, word: str) -> None:
    for path in (place, "benchmarks/ddi/names.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"first line\n{line}\n")
    assert list(mentions(tmp_path)) == [f"{place}:2: {word}"]
