"""The whole study of DDI-Ben: made from the book of its claims, so that both say the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.layout import Layout
from harness.benchmarks.ddi.study.ensemble import ensembles
from harness.benchmarks.ddi.study.facts import facts
from harness.benchmarks.ddi.study.figures import figures
from harness.benchmarks.ddi.study.measured import load_measured, outdated
from harness.benchmarks.ddi.study.realtime import realtime
from harness.benchmarks.ddi.study.shown import load_shown
from harness.benchmarks.ddi.study.sides import Sides
from harness.benchmarks.ddi.study.tables import tables
from harness.benchmarks.ddi.study.tuning import tuning
from harness.compare.book import Book
from harness.compare.judge import ClaimVerdict
from harness.compare.names import Names, load_names
from harness.methods.card import load_methods
from harness.study.sheets import Sheet, refuse_unknown_sheet


@dataclass(frozen=True)
class PairStudy:
    """Tables and figures of the paper."""

    benchmark: str
    sources: tuple[str, ...]
    sheets: tuple[Sheet, ...]
    columns: str = ""

    @property
    def deviates(self) -> bool:
        """Whether any number of a table does; figures are not judged."""
        return any(sheet.tally[ClaimVerdict.DEVIATES] for sheet in self.sheets)

    def only(self, tables: tuple[str, ...], figures: tuple[str, ...]) -> PairStudy:
        """Some of it."""
        wanted = {"table": tables, "figure": figures}
        for kind, numbers in wanted.items():
            known = [sheet.number for sheet in self.sheets if sheet.kind == kind]
            refuse_unknown_sheet(self.benchmark, kind, numbers, known)
        return replace(self, sheets=tuple(one for one in self.sheets if one.number in wanted[one.kind]))


def make_study(layout: Layout, book: Book, mirrors: Sequence[Path] = ()) -> PairStudy:
    """Every sheet, also those for which nothing was run."""
    controls = tuple(card.name for card in load_methods(layout, book.benchmark) if card.control)
    names = load_names(layout, book.benchmark)
    sides = Sides(book, names, controls, ensembles(layout, book.runs, names.methods, mirrors))
    sheets = [*tables(sides), tuning(layout), *figures(sides), *_of_data(layout, names)]
    return PairStudy(book.benchmark, book.sources, tuple(sorted(sheets, key=_order)))


def _of_data(layout: Layout, names: Names) -> Iterator[Sheet]:
    """The sheets that need no run, each with what is no longer as it was when they were measured."""
    if (measured := load_measured(layout, names.benchmark)) is None:
        return
    stale = outdated(layout, measured)
    for sheet in (*facts(measured, load_shown(layout, names)), *realtime(measured)):
        yield replace(sheet, notes=[*sheet.notes, *(f"Outdated: {one}." for one in stale)])


def _order(sheet: Sheet) -> tuple[bool, int]:
    """Tables first, each kind by number."""
    return sheet.kind == "figure", int(sheet.number)
