"""The study of a paper: its tables and figures made again from our runs, beside the published ones.

The file `study.toml` in a benchmark's package describes its study. Tables and figures that need arithmetic of
their own are made by the package `study` of the benchmark, which is imported on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.layout import Layout
from harness.compare import Book, load_names
from harness.methods.card import load_methods
from harness.study.claims import ClaimsTable
from harness.study.extension import own_sheets
from harness.study.grid import Grid
from harness.study.sheets import Study, to_json, to_markdown, to_text
from harness.study.sides import Sides
from harness.study.specs import CLAIMS, COSTS, GRID, load_description

__all__ = ["make_study", "measure_anew", "to_json", "to_markdown", "to_text"]


def make_study(layout: Layout, book: Book, mirrors: Sequence[Path] = ()) -> Study | None:
    """The study that a book belongs to; None if no study is described, or no claim of the book is of a table."""
    if not any(one.claim.sheet for one in book.comparisons):
        return None
    names, extension = load_names(layout, book.benchmark), own_sheets(book.benchmark)
    controls = tuple(card.name for card in load_methods(layout, book.benchmark) if card.control)
    sides = Sides(layout, book, names, controls)
    sides = replace(sides, derived=extension.derived(sides, mirrors))
    makers = dict(extension.makers(sides))
    description = load_description(layout, names, makers)
    if description is None:
        return None
    makers |= {
        CLAIMS: lambda spec: ClaimsTable(sides, spec, description.columns).sheet(),
        GRID: lambda spec: Grid(sides, spec, description.categories).sheet(),
        COSTS: lambda spec: Grid(sides, spec, description.categories).costs(),
    }
    sheets = (makers[spec.made](spec) for spec in description.sheets)
    return Study(book.benchmark, book.sources, tuple(sheet for sheet in sheets if sheet))


def measure_anew(layout: Layout, benchmark: str, mirrors: Sequence[Path], *, say: Callable[[str], None]) -> None:
    """Measure the data of a study again, and keep the result."""
    own_sheets(benchmark).measure(layout, benchmark, mirrors, say)
