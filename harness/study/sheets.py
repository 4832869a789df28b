"""A study as sheets: each table or figure of a paper with its rows as text, its drawings, and what must be known.

Terminal, documents and page show sheets alone, so that the studies of all benchmarks are rendered by one code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from harness.base.errors import UsageError
from harness.compare.judge import ClaimVerdict


@dataclass(frozen=True)
class Picture:
    """A drawing under its heading."""

    heading: str
    svg: str


@dataclass(frozen=True)
class Sheet:
    """One table or figure. `chips`: the verdict that an entry shows, where the sheet does not give it in words."""

    kind: Literal["table", "figure"]
    number: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    tally: Counter[ClaimVerdict] = field(default_factory=Counter)
    counted: str = "numbers"
    notes: Sequence[str] = ()
    chips: Sequence[Sequence[str]] = ()
    legend: str = ""
    pictures: Sequence[Picture] = ()
    # how the page lays it out: words that the template and its style know
    style: str = ""
    # for programs, where they need more than the text
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tally_text(self) -> str:
        """`9 numbers = 4 reproduced + 5 not-comparable`."""
        terms = [f"{self.tally[verdict]} {verdict}" for verdict in ClaimVerdict if self.tally[verdict]]
        return f"{self.tally.total()} {self.counted} = {' + '.join(terms)}" if terms else ""


class Study(Protocol):
    """The tables and figures of one paper."""

    @property
    def benchmark(self) -> str:
        """Whose paper."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its numbers come from."""
        ...

    @property
    def columns(self) -> str:
        """What the columns of all its tables mean; said once."""
        ...

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """All of them, tables first."""
        ...

    @property
    def deviates(self) -> bool:
        """Whether any number of a table or figure does."""
        ...

    def only(self, tables: tuple[str, ...], figures: tuple[str, ...]) -> Study:
        """Some of it."""
        ...


def refuse_unknown_sheet(benchmark: str, kind: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Nothing is shown for a number that the study does not have."""
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"there is no {kind} {name} here",
                where=f"the study of benchmark '{benchmark}'",
                todo=f"choose one of: {', '.join(known)}",
            )
