"""Footnotes of a table: two numbers of one column that rest on different items never stand there without a word.

A footnote is what the notes of the scores say; each distinct text is told once, below the table.
"""

from __future__ import annotations

from harness.status.table import Group

# seeds may each have their own counts
_MOST = 3


class Footnotes:
    """The footnotes of one table, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, group: Group, metric: str) -> int | None:
        """The number of the footnote of one entry; None where nothing is to be said."""
        told = group.remarks(metric)
        if not told:
            return None
        more = f" and {len(told) - _MOST} more" if len(told) > _MOST else ""
        return self._numbers.setdefault("; ".join(told[:_MOST]) + more, len(self._numbers) + 1)

    def entry(self, group: Group, metric: str) -> str:
        """`0.8009 ± 0.0123 (3) [1]`, `- [2]`; empty where there is neither a value nor a reason."""
        summary, number = group.summary(metric), self.number(group, metric)
        mark = f" [{number}]" if number else ""
        if summary is None:
            return f"-{mark}" if mark else ""
        return f"{summary.text} ({summary.n}){mark}"

    def copy(self) -> Footnotes:
        """The same so far: for entries that may turn out not to be shown."""
        other = Footnotes()
        other.keep(self)
        return other

    def keep(self, other: Footnotes) -> None:
        """Take over what a copy has met."""
        self._numbers = dict(other._numbers)

    @property
    def texts(self) -> list[str]:
        """All that were met, in order of their numbers."""
        return list(self._numbers)

    @property
    def lines(self) -> list[str]:
        """`[1] S1 items: 128 of 208 are in whole batches of 128`."""
        return [f"[{number}] {text}" for text, number in self._numbers.items()]
