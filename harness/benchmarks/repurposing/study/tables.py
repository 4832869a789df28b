"""The paper's tables from the verdicts of their claims: every claim of a table is in it, or it is not made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.base.vocabulary import Verdict
from harness.compare.book import Book
from harness.compare.claims import Claim
from harness.compare.judge import ClaimVerdict, Comparison
from harness.compare.names import Target
from harness.compare.paper import ALL_DATASETS, Place
from harness.compare.several import STATISTICS, Several
from harness.compare.values import reached_by
from harness.status.table import summarise

_TITLES = {
    "5": "Median NS-AUC of the three best methods of each dataset, random splits",
    "6": "Pair-oriented neural networks against pair-oriented graph-based methods, random splits",
    "7": "Mean and standard deviation on Synthetic, random splits",
    "8": "Mean and standard deviation on Synthetic, weakly correlated splits",
    "9": "Methods that use features against methods that do not, random splits",
    "10": "Random against weakly correlated splits, by class of method",
    "14": "What ran",
}
_STATUS = "14"
# How Table 14 prints them.
MARKS = {"ran": "✓", "runtime error": "E", "memory error": "M"}


@dataclass(frozen=True)
class Row:
    """A line of a table: what it is about, its claim and what became of it, what the controls reach there.

    A part is about some of the datasets only; the paper prints no number for it.
    """

    about: str
    quantity: str
    comparison: Comparison
    control: str = ""
    part: bool = False


@dataclass(frozen=True)
class ControlRow:
    """A control in a table of methods, which claims nothing."""

    about: str
    quantity: str
    ours: float
    n: int


@dataclass(frozen=True)
class Table:
    """A table of numbers."""

    number: str
    title: str
    rows: tuple[Row, ...]
    controls: tuple[ControlRow, ...] = ()

    @property
    def lines(self) -> tuple[Row | ControlRow, ...]:
        """All rows; controls come last."""
        return (*self.rows, *self.controls)

    @property
    def tally(self) -> Counter[ClaimVerdict]:
        """How many of its numbers have which verdict."""
        return Counter(row.comparison.verdict for row in self.rows)


@dataclass(frozen=True)
class StatusCell:
    """What the paper says of one method, dataset and split, and how our runs ended."""

    printed: str
    ours: Counter[Verdict]
    verdict: ClaimVerdict | None
    reason: str


@dataclass(frozen=True)
class StatusTable:
    """Table 14: a cell per method, dataset and split; controls, which the paper does not have, come last."""

    number: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[StatusCell, ...]], ...]

    @property
    def tally(self) -> Counter[ClaimVerdict]:
        """How many of its cells have which verdict."""
        return Counter(cell.verdict for _, _, cells in self.rows for cell in cells if cell.verdict is not None)


@dataclass(frozen=True)
class Maker:
    """Everything tables and figures are made from."""

    book: Book
    several: Several
    controls: tuple[str, ...]

    def tables(self) -> list[Table | StatusTable]:
        """All tables of the paper that consist of results."""
        tables: list[Table | StatusTable] = []
        for number, title in _TITLES.items():
            members = [one for one in self.book.comparisons if one.claim.source.startswith(f"Table {number},")]
            if not members:
                continue
            if number == _STATUS:
                tables.append(self._status_table(number, title, members))
            else:
                # what is about the same dataset or class stands together
                places = list(dict.fromkeys((one.claim.dataset, one.claim.method) for one in members))
                members.sort(key=lambda one: places.index((one.claim.dataset, one.claim.method)))
                rows = tuple(row for one in members for row in self._rows(one))
                tables.append(Table(number, title, rows, self._control_rows(members)))
            assert tables[-1].tally.total() >= len(members), "claims were lost between the book and a table"
        return tables

    def best_control(self, metric: str, places: Sequence[Place]) -> tuple[str, float] | None:
        """The control with the highest mean on the same datasets and splits: what a method must beat."""
        reached = {
            control: reached_by(control, self.several.names, self.book.runs, metric, places)
            for control in self.controls
        }
        means = [(float(values.mean()), control) for control, values in reached.items() if len(values)]
        if not means:
            return None
        mean, control = max(means)
        return control, mean

    def title(self, method: str) -> str:
        """A published method as the paper prints it."""
        return self.several.paper.methods.get(method, method)

    def dataset_title(self, dataset: str) -> str:
        """A published dataset as the paper prints it."""
        return self.several.paper.datasets.get(dataset, dataset)

    def _rows(self, one: Comparison) -> Iterator[Row]:
        claim, paper = one.claim, self.several.paper
        if claim.statistic not in STATISTICS:
            yield Row(self.title(claim.method), claim.metric, one)
            return
        contrast = claim.method.partition(",")[0]
        about = contrast if claim.dataset == ALL_DATASETS else self.dataset_title(claim.dataset)
        yield Row(about, claim.statistic, one, self._control(claim))
        if part := self.several.on_part(claim):
            here = [name for name in paper.datasets_of(claim.dataset) if not self.several.why_without(name)]
            about = f"{about}, {part.claim.dataset}"
            yield Row(about, claim.statistic, part, self._control(claim, here), part=True)

    def _control(self, claim: Claim, datasets: Sequence[str] = ()) -> str:
        places = [place for group in self.several.groups(claim, datasets) for place in group]
        best = self.best_control(claim.metric, places)
        return f"{best[1]:.3f} {best[0]}" if best else ""

    def _control_rows(self, members: Sequence[Comparison]) -> tuple[ControlRow, ...]:
        """The rows of controls in a table of methods on one dataset and split."""
        single = [one for one in members if one.claim.statistic not in STATISTICS]
        rows = []
        for control, published in product(self.controls, dict.fromkeys(one.claim.metric for one in single)):
            metric = self.several.names.metric(published).ours or ""
            runs = self.book.runs.get(replace(single[0].target, method=control), {})
            values = [run.metrics.get(metric) for run in runs.values() if run.metrics is not None]
            if summary := summarise(value for value in values if value is not None):
                rows.append(ControlRow(control, published, summary.mean, summary.n))
        return tuple(rows)

    def _status_table(self, number: str, title: str, members: Sequence[Comparison]) -> StatusTable:
        paper, names = self.several.paper, self.several.names
        found = {Place(one.claim.dataset, one.claim.method, one.claim.split): one for one in members}
        rows = []
        for dataset, split in dict.fromkeys((place.dataset, place.split) for place in found):
            claims = [found[Place(dataset, method, split)] for method in paper.methods]
            cells = [
                StatusCell(one.claim.published, self._verdicts(one.target), one.verdict, one.reason)
                for one in claims
            ]
            for control in self.controls:
                target = Target(control, names.datasets.get(dataset), names.splits.get(split))
                cells.append(StatusCell("", self._verdicts(target), None, ""))
            rows.append((self.dataset_title(dataset), names.splits.get(split, split), tuple(cells)))
        return StatusTable(number, title, (*paper.methods.values(), *self.controls), tuple(rows))

    def _verdicts(self, target: Target) -> Counter[Verdict]:
        return Counter(run.verdict for run in self.book.runs.get(target, {}).values())
