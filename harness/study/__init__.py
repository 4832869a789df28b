"""The study of a paper, made again: its tables and figures from our runs beside the published ones.

The study of each benchmark is made by its package `study`, which is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, cast

from harness import benchmarks
from harness.base.errors import unknown
from harness.base.layout import Layout
from harness.compare import Book
from harness.study.render import to_json, to_markdown, to_text
from harness.study.sheets import Sheet, Study

__all__ = ["Sheet", "Study", "make_study", "measure_anew", "to_json", "to_markdown", "to_text"]

Say = Callable[[str], None]


class _Maker(Protocol):
    """What the module of a study offers."""

    def make_study(self, layout: Layout, book: Book, mirrors: Sequence[Path]) -> Study | None:
        """The study a book belongs to, or None where its claims are of none."""
        ...

    def measure_anew(self, layout: Layout, mirrors: Sequence[Path], say: Say) -> None:
        """Measure and keep what the study says of data alone."""
        ...


def make_study(layout: Layout, book: Book, mirrors: Sequence[Path] = ()) -> Study | None:
    """The study a book belongs to, or None where its claims are of none."""
    maker = benchmarks.part(book.benchmark, "study")
    return cast(_Maker, maker).make_study(layout, book, mirrors) if maker else None


def measure_anew(layout: Layout, benchmark: str, mirrors: Sequence[Path], *, say: Say) -> None:
    """Measure and keep what a study says of data alone."""
    maker = benchmarks.part(benchmark, "study")
    if maker is None:
        known = [name for name in benchmarks.names() if benchmarks.part(name, "study")]
        raise unknown("benchmark with a study", benchmark, known)
    cast(_Maker, maker).measure_anew(layout, mirrors, say)
