"""A study as sheets: each table or figure of a paper with its rows as text, its drawings, and what must be known.

Terminal, documents and page show sheets alone, so that the studies of all benchmarks are rendered by one code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from harness.base.errors import UsageError
from harness.compare.judge import ClaimVerdict, Comparison

# What stands where there is nothing.
NONE = "-"


def percent(value: float | None) -> str:
    """As papers print shares."""
    return NONE if value is None else f"{100 * value:.1f}"


def tally_of(claims: Iterable[Comparison]) -> Counter[ClaimVerdict]:
    """How many claims have which verdict."""
    return Counter(one.verdict for one in claims)


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
    # what the columns mean, where several sheets have the same
    columns: str = ""
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


@dataclass(frozen=True)
class Study:
    """The tables and figures of one paper, tables first, and where its numbers come from."""

    benchmark: str
    sources: tuple[str, ...]
    sheets: tuple[Sheet, ...]

    @property
    def columns(self) -> str:
        """What the columns of its tables mean; said once."""
        return next((sheet.columns for sheet in self.sheets if sheet.columns), "")

    @property
    def deviates(self) -> bool:
        """Whether any number of a table or figure does."""
        return any(sheet.tally[ClaimVerdict.DEVIATES] for sheet in self.sheets)

    def only(self, tables: Sequence[str], figures: Sequence[str]) -> Study:
        """Some of it; a number that it does not have is refused."""
        wanted = {"table": tables, "figure": figures}
        for kind, numbers in wanted.items():
            known = [sheet.number for sheet in self.sheets if sheet.kind == kind]
            for number in numbers:
                if number not in known:
                    raise UsageError(
                        f"there is no {kind} {number} here",
                        where=f"the study of benchmark '{self.benchmark}'",
                        todo=f"choose one of: {', '.join(known)}",
                    )
        return replace(self, sheets=tuple(one for one in self.sheets if one.number in wanted[one.kind]))
