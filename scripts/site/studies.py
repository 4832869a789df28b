"""The study of each paper from the committed results: what `harness study --markdown` prints in a clean clone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness import benchmarks
from harness.base.layout import Layout
from harness.compare import compare_claims
from harness.results.store import Store
from harness.study import make_study, to_markdown

FOLDER = "studies"


def write_studies(layout: Layout, folder: Path) -> list[str]:
    """Write a page for each benchmark that has a study; their places are returned."""
    (folder / FOLDER).mkdir(parents=True)
    places = []
    # a store without runs: what a person ran stands in no page for others
    for name, text in _studies(layout, Store(folder / "runs")):
        places.append(f"{FOLDER}/{name}.md")
        (folder / places[-1]).write_text(text, encoding="utf-8")
    return places


def _studies(layout: Layout, store: Store) -> Iterator[tuple[str, str]]:
    for name in benchmarks.names():
        study = make_study(layout, compare_claims(layout, store, name))
        if study is not None:
            yield name, to_markdown(study)
