"""The study of collaborative filters: made from the book of its claims, so that both say the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.study.figures import Figures, make_figures
from harness.benchmarks.repurposing.study.printed import figure_sheets, table_sheet
from harness.benchmarks.repurposing.study.tables import Maker, StatusTable, Table
from harness.benchmarks.repurposing.study.words import COLUMNS
from harness.compare.book import Book
from harness.compare.judge import ClaimVerdict
from harness.methods.card import load_methods
from harness.study.sheets import Sheet, refuse_unknown_sheet


@dataclass(frozen=True)
class FilterStudy:
    """Tables and figures of one paper."""

    benchmark: str
    sources: tuple[str, ...]
    tables: tuple[Table | StatusTable, ...]
    figures: Figures | None

    @cached_property
    def names(self) -> list[str]:
        """What a person may ask for: `5`, `14`, `2b`."""
        return [*(table.number for table in self.tables), *(self.figures.numbers if self.figures else ())]

    @property
    def columns(self) -> str:
        """What the columns of tables of numbers mean."""
        return COLUMNS if any(isinstance(table, Table) for table in self.tables) else ""

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """Tables, then figures."""
        return (*map(table_sheet, self.tables), *figure_sheets(self.figures))

    @property
    def deviates(self) -> bool:
        """Whether any number of a table or figure does."""
        drawn = self.figures.verdicts if self.figures else []
        return ClaimVerdict.DEVIATES in drawn or any(table.tally[ClaimVerdict.DEVIATES] for table in self.tables)

    def only(self, tables: tuple[str, ...], figures: tuple[str, ...]) -> FilterStudy:
        """Some of it."""
        refuse_unknown_sheet(self.benchmark, "table", tables, [table.number for table in self.tables])
        refuse_unknown_sheet(self.benchmark, "figure", figures, self.figures.numbers if self.figures else ())
        chosen = tuple(table for table in self.tables if table.number in tables)
        return replace(self, tables=chosen, figures=self.figures.only(figures) if self.figures else None)


def make_study(layout: Layout, book: Book, mirrors: Sequence[Path] = ()) -> FilterStudy | None:
    """The study a book belongs to, or None where its claims are of no such study."""
    if book.several is None:
        return None
    controls = tuple(card.name for card in load_methods(layout, book.benchmark) if card.control)
    maker = Maker(book, book.several, controls)
    return FilterStudy(book.benchmark, book.sources, tuple(maker.tables()), make_figures(maker))


def measure_anew(layout: Layout, mirrors: Sequence[Path], say: Callable[[str], None]) -> NoReturn:
    """Refused: no sheet of this study is of data alone."""
    raise UsageError(
        "nothing is measured of the data of benchmark 'repurposing'",
        where="--measure",
        todo="leave it out; its study rests on runs alone",
    )
