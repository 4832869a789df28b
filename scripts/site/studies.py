"""The study of each paper from the committed results: what `harness study --markdown` prints in a clean clone."""

from __future__ import annotations

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
    # a store without runs: what a person ran stands in no page for others
    places, store = [], Store(folder / "runs")
    for name in benchmarks.names():
        study = make_study(layout, compare_claims(layout, store, name))
        if study is not None:
            places.append(f"{FOLDER}/{name}.md")
            (folder / places[-1]).write_text(to_markdown(study), encoding="utf-8")
    return places
