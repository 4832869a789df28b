"""A study as sheets: each table or figure of a paper with its rows as text, its drawings and its notes.

Terminal, documents and page show sheets, so that one code renders the studies of all benchmarks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Literal

from harness.base.errors import UsageError
from harness.base.markdown import code, plain
from harness.base.plurals import counted
from harness.base.tables import fitted, markdown_table, wrapped
from harness.compare.comparison import ClaimVerdict, Comparison

# The text of an entry without a value.
NONE = "-"


def percent(value: float | None) -> str:
    """A share in percent, as papers print it."""
    return NONE if value is None else f"{100 * value:.1f}"


def runs_at(columns: Iterable[int], row: Sequence[str], keys: Sequence[str]) -> list[Sequence[str]]:
    """The keys of a row's runs at the columns that hold its numbers."""
    places = {place % len(row) for place in columns}
    return [keys if place in places else () for place in range(len(row))]


def tally_of(claims: Iterable[Comparison]) -> Counter[ClaimVerdict]:
    """The number of claims by verdict."""
    return Counter(one.verdict for one in claims)


@dataclass(frozen=True)
class Picture:
    """A drawing with its heading."""

    heading: str
    svg: str


@dataclass(frozen=True)
class Sheet:
    """One table or figure. `chips`: verdicts of entries, if the sheet has no column for them."""

    kind: Literal["table", "figure"]
    number: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    tally: Counter[ClaimVerdict] = field(default_factory=Counter)
    counted: str = "numbers"
    notes: Sequence[str] = ()
    chips: Sequence[Sequence[str]] = ()
    # keys of the runs that each entry rests on; none of a sheet that is of the data alone
    runs: Sequence[Sequence[Sequence[str]]] = ()
    # the meaning of the columns, if several sheets have the same ones
    columns: str = ""
    legend: str = ""
    pictures: Sequence[Picture] = ()
    # the layout on the page: words that the template and its style know
    style: str = ""
    # JSON values, if programs need more than the texts
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tally_text(self) -> str:
        """`9 numbers = 4 reproduced + 5 not-comparable`."""
        terms = [f"{self.tally[verdict]} {verdict}" for verdict in ClaimVerdict if self.tally[verdict]]
        total = counted(self.tally.total(), self.counted.removesuffix("s"))
        return f"{total} = {' + '.join(terms)}" if terms else ""

    @property
    def entries(self) -> list[list[tuple[str, str, Sequence[str]]]]:
        """The texts of each row with their chips and the keys of their runs."""
        chips = self.chips or [[""] * len(self.head) for _ in self.rows]
        runs = self.runs or [[()] * len(self.head) for _ in self.rows]
        rows = zip(self.rows, chips, runs, strict=True)
        return [list(zip(row, marks, keys, strict=True)) for row, marks, keys in rows]

    def without_empty_columns(self) -> Sheet:
        """The sheet without the columns that are empty in every row: a heading over nothing tells nothing."""
        filled = [any(column) for column in zip(*self.rows, strict=True)] or [True] * len(self.head)

        def kept(rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
            return [tuple(compress(row, filled)) for row in rows]

        (head,) = kept([self.head])
        return replace(self, head=head, rows=kept(self.rows), chips=kept(self.chips), runs=kept(self.runs))

    @property
    def styles(self) -> list[str]:
        """The words of the layout on the page."""
        return self.style.split()


@dataclass(frozen=True)
class Study:
    """The tables and figures of one paper, tables first, and the sources of its numbers."""

    benchmark: str
    sources: tuple[str, ...]
    sheets: tuple[Sheet, ...]

    @property
    def columns(self) -> str:
        """The meaning of the columns of its tables."""
        return next((sheet.columns for sheet in self.sheets if sheet.columns), "")

    @property
    def deviates(self) -> bool:
        """Whether any number of a table or figure deviates."""
        return any(sheet.tally[ClaimVerdict.DEVIATES] for sheet in self.sheets)

    def only(self, tables: Sequence[str], figures: Sequence[str]) -> Study:
        """The study with these tables and figures only; an unknown number is refused."""
        numbers_of = {"table": tables, "figure": figures}
        for kind, numbers in numbers_of.items():
            known = [sheet.number for sheet in self.sheets if sheet.kind == kind]
            for number in numbers:
                if number not in known:
                    raise UsageError(
                        f"there is no {kind} {number} here",
                        where=f"the study of benchmark '{self.benchmark}'",
                        todo=f"choose one of: {', '.join(known)}",
                    )
        return replace(self, sheets=tuple(one for one in self.sheets if one.number in numbers_of[one.kind]))


def to_text(study: Study) -> str:
    """Every table and figure of the study, for a terminal of 80 columns."""
    lines = [*(text for source in study.sources for text in wrapped(source, "")), ""]
    if study.columns:
        lines += [*wrapped(study.columns, ""), ""]
    for sheet in study.sheets:
        lines += [*wrapped(heading(sheet), ""), *([f"  {sheet.tally_text}"] if sheet.tally_text else []), ""]
        lines += [*fitted([sheet.head, *sheet.rows], indent="  "), ""]
        if sheet.notes:
            lines += [*(text for note in sheet.notes for text in wrapped(note, "  ")), ""]
    return "\n".join(text.rstrip() for text in lines).rstrip() + "\n"


def to_markdown(study: Study) -> str:
    """Every table and figure as Markdown."""
    lines = [f"# The study of {code(study.benchmark)}", "", *(f"- {plain(one)}" for one in study.sources), ""]
    if study.columns:
        lines += [plain(study.columns), ""]
    for sheet in study.sheets:
        lines += [f"## {plain(heading(sheet))}", "", *([plain(sheet.tally_text), ""] if sheet.tally_text else [])]
        lines += [*markdown_table([*map(plain, sheet.head)], ([*map(plain, row)] for row in sheet.rows)), ""]
        if sheet.notes:
            lines += [*(f"- {plain(note)}" for note in sheet.notes), ""]
    return "\n".join(lines).rstrip() + "\n"


def to_json(study: Study) -> dict[str, Any]:
    """Every table and figure by number."""
    return {
        "benchmark": study.benchmark,
        "sources": list(study.sources),
        "tables": {sheet.number: _values(sheet) for sheet in study.sheets if sheet.kind == "table"},
        "figures": {sheet.number: _values(sheet) for sheet in study.sheets if sheet.kind == "figure"},
    }


def heading(sheet: Sheet) -> str:
    """`Table 10. Comparison of ...`."""
    return f"{sheet.kind.capitalize()} {sheet.number}. {sheet.title}"


def _values(sheet: Sheet) -> dict[str, Any]:
    if sheet.values:
        return dict(sheet.values)
    return {"title": sheet.title, "columns": list(sheet.head), "rows": [list(row) for row in sheet.rows]}
