"""The study of a paper, made again: its tables and figures from our runs beside the published ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.compare import Book
from harness.errors import UsageError
from harness.layout import Layout
from harness.study.ddi import make_pair_study
from harness.study.render import to_json, to_markdown, to_text
from harness.study.sheets import Sheet, Study
from harness.study.whole import make_filter_study

__all__ = ["Sheet", "Study", "make_study", "measure_anew", "to_json", "to_markdown", "to_text"]


def make_study(layout: Layout, book: Book) -> Study | None:
    """The study a book belongs to, or None where its claims are of none."""
    return make_pair_study(layout, book) if book.benchmark == "ddi" else make_filter_study(layout, book)


def measure_anew(layout: Layout, benchmark: str, mirrors: Sequence[Path], *, say: Callable[[str], None]) -> None:
    """Measure and keep what a study says of data alone."""
    from harness.study.ddi.measured import save_measured
    from harness.study.ddi.measuring import measure

    if benchmark != "ddi":
        raise UsageError(
            f"nothing is measured of the data of benchmark '{benchmark}'",
            where="--measure",
            todo="leave it out; its study rests on runs alone",
        )
    save_measured(layout, benchmark, measure(layout, "drugbank", mirrors, say))
