"""The study of a paper, made again: its tables and figures from our runs beside the published ones.

What a benchmark's study shows is described in the `study.toml` of its package. What needs arithmetic of its own is
made by its package `study`, which is imported when it is asked for.
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
from harness.study.sheets import Sheet, Study
from harness.study.sides import Sides
from harness.study.specs import CLAIMS, COSTS, GRID, load_description
from harness.study.text import to_json, to_markdown, to_text

__all__ = ["Sheet", "Study", "make_study", "measure_anew", "to_json", "to_markdown", "to_text"]


def make_study(layout: Layout, book: Book, mirrors: Sequence[Path] = ()) -> Study | None:
    """Every sheet of the study a book belongs to; None where none is described, or it has no claim of a table."""
    if not any(one.claim.source.startswith("Table ") for one in book.comparisons):
        return None
    names, own = load_names(layout, book.benchmark), own_sheets(book.benchmark)
    controls = tuple(card.name for card in load_methods(layout, book.benchmark) if card.control)
    sides = Sides(layout, book, names, controls)
    sides = replace(sides, derived=own.derived(sides, mirrors))
    makers = {**own.makers(sides)}
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
    """Measure and keep what a study says of data alone."""
    own_sheets(benchmark).measure(layout, benchmark, mirrors, say)
