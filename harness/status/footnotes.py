"""Footnotes of a table: they say where two numbers of one column rest on different items.

The text of a footnote comes from the notes of the scores. Each distinct text stands once, below the table.
"""

from __future__ import annotations

from harness.base.few import few_in_line
from harness.status.table import Group

# seeds may each have their own counts
_MOST = 3


class Footnotes:
    """The footnotes of one table, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, group: Group, metric: str) -> int | None:
        """The number of the footnote of one entry; None if it needs none."""
        remarks = group.remarks(metric)
        return self.number_of(few_in_line(remarks, _MOST, "; ")) if remarks else None

    def number_of(self, text: str) -> int:
        """The number of the footnote with this text."""
        return self._numbers.setdefault(text, len(self._numbers) + 1)

    def entry(self, group: Group, metric: str) -> str:
        """`0.8009 ± 0.0123 (3) [1]`, `- [2]`; empty where there is neither a value nor a reason."""
        summary, number = group.summary(metric), self.number(group, metric)
        mark = f" [{number}]" if number else ""
        if summary is None:
            return f"-{mark}" if mark else ""
        return f"{summary.text} ({summary.n}){mark}"

    def copy(self) -> Footnotes:
        """The footnotes so far: for entries that may not be shown in the end."""
        other = Footnotes()
        other.keep(self)
        return other

    def keep(self, other: Footnotes) -> None:
        """Take over the footnotes of a copy."""
        self._numbers = dict(other._numbers)

    @property
    def texts(self) -> list[str]:
        """All texts, in order of their numbers."""
        return list(self._numbers)

    @property
    def lines(self) -> list[str]:
        """`[1] S1 items: 128 of 208 are in whole batches of 128`."""
        return [f"[{number}] {text}" for text, number in self._numbers.items()]
