"""The study of a paper, made again: its tables and figures from our runs beside the published ones.

The study of each benchmark is made by a module of its own, which is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from harness.base.layout import Layout
from harness.compare import Book
from harness.methods.card import unknown
from harness.study.render import to_json, to_markdown, to_text
from harness.study.sheets import Sheet, Study

__all__ = ["Sheet", "Study", "make_study", "measure_anew", "to_json", "to_markdown", "to_text"]

_STUDIES = {"ddi": "harness.benchmarks.ddi.study", "repurposing": "harness.benchmarks.repurposing.study.whole"}
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
    return _maker(book.benchmark).make_study(layout, book, mirrors) if book.benchmark in _STUDIES else None


def measure_anew(layout: Layout, benchmark: str, mirrors: Sequence[Path], *, say: Say) -> None:
    """Measure and keep what a study says of data alone."""
    _maker(benchmark).measure_anew(layout, mirrors, say)


def _maker(benchmark: str) -> _Maker:
    if benchmark not in _STUDIES:
        raise unknown("benchmark with a study", benchmark, sorted(_STUDIES))
    return cast(_Maker, import_module(_STUDIES[benchmark]))
