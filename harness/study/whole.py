"""The whole study of one benchmark: made from the book of its claims, so that both say the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from harness.compare.book import Book
from harness.compare.judge import ClaimVerdict
from harness.errors import UsageError
from harness.layout import Layout
from harness.methods import load_methods
from harness.study.figures import Figures, make_figures
from harness.study.tables import Maker, StatusTable, Table


@dataclass(frozen=True)
class Study:
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
    def deviates(self) -> bool:
        """Whether any number of a table or figure does."""
        drawn = self.figures.verdicts if self.figures else []
        return ClaimVerdict.DEVIATES in drawn or any(table.tally[ClaimVerdict.DEVIATES] for table in self.tables)

    def only(self, tables: tuple[str, ...], figures: tuple[str, ...]) -> Study:
        """Some of it."""
        for kind, wanted, known in (
            ("table", tables, [table.number for table in self.tables]),
            ("figure", figures, list(self.figures.numbers) if self.figures else []),
        ):
            for name in wanted:
                if name not in known:
                    raise UsageError(
                        f"there is no {kind} {name} here",
                        where=f"the study of benchmark '{self.benchmark}'",
                        todo=f"choose one of: {', '.join(known)}",
                    )
        chosen = tuple(table for table in self.tables if table.number in tables)
        return replace(self, tables=chosen, figures=self.figures.only(figures) if self.figures else None)


def make_study(layout: Layout, book: Book) -> Study | None:
    """The study a book belongs to, or None where its claims are of no such study."""
    if book.several is None:
        return None
    controls = tuple(card.name for card in load_methods(layout, book.benchmark) if card.control)
    maker = Maker(book, book.several, controls)
    return Study(book.benchmark, book.sources, tuple(maker.tables()), make_figures(maker))
