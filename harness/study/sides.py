"""Both sides of a study by row, split and metric: printed numbers, and means over our runs.

A row is a method of the paper, or one that the paper does not have: a control, another variant of a method, or a
combination of several runs. Only rows of the paper are compared with printed numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.compare.book import Book
from harness.compare.comparison import Comparison
from harness.compare.groups import Several
from harness.compare.names import PublishedNames, Target
from harness.compare.paper import Place
from harness.compare.runs import Obtained, Runs
from harness.compare.values import values_of_control
from harness.status.table import Summary, summarise

# The variant of a control's row, and of a method that the paper does not have.
CONTROL, OWN = "control", "own"


@dataclass(frozen=True)
class Row:
    """A method by its published name, or a row of ours such as `mlp/corrected` and `majority_type`.

    `method` of a printed row is what the name stands for: METHOD or METHOD/VARIANT.
    """

    title: str
    method: str
    variant: str = ""

    @property
    def printed(self) -> bool:
        """Whether the paper has the row."""
        return not self.variant


@dataclass(frozen=True)
class Derived:
    """Rows that combine several runs each, such as an ensemble; the `reason` of a run names its members."""

    title: str
    rule: str
    runs: Runs


@dataclass(frozen=True)
class Sides:
    """Claims and runs by row of the paper's tables. Datasets, splits and metrics have published names."""

    layout: Layout
    book: Book
    names: PublishedNames
    controls: tuple[str, ...]
    derived: tuple[Derived, ...] = ()

    @property
    def several(self) -> Several:
        """Both sides over several methods; the paper must have such statistics."""
        assert self.book.several is not None
        return self.book.several

    def rows(self, dataset: str, splits: Sequence[str]) -> list[Row]:
        """The paper's methods in its order, then other rows that have runs there, then the controls."""
        rows = [Row(title, method) for title, method in self.names.methods.items()]
        for variant, runs in self.book.beside.items():
            methods = {target.method or "" for target in runs if self._here(target, dataset, splits)}
            rows += [Row(f"{method}/{variant}", method, variant) for method in sorted(methods)]
        for one in self.derived:
            if any(self._here(target, dataset, splits) for target in one.runs):
                rows.append(Row(one.title, one.title, one.title))
        rows += [Row(own, own, OWN) for own in self.names.own_methods]
        return rows + [Row(control, control, CONTROL) for control in self.controls]

    def runs(self, row: Row, dataset: str, split: str) -> dict[int, Obtained]:
        """Our runs by seed, with any verdict."""
        method, _, variant = row.method.partition("/")
        target = Target(method, self.names.datasets.get(dataset), self.names.splits.get(split, split), variant)
        if row.variant in ("", CONTROL, OWN):
            return self.book.runs.get(target, {})
        derived_runs = {one.title: one.runs for one in self.derived}
        return {**self.book.beside, **derived_runs}.get(row.variant, {}).get(target, {})

    def ended(self, row: Row, dataset: str, split: str) -> list[Obtained]:
        """Our runs that ended ok, by seed."""
        return [run for _, run in sorted(self.runs(row, dataset, split).items()) if run.verdict is Verdict.OK]

    def keys(self, row: Row, dataset: str, split: str) -> tuple[str, ...]:
        """The keys of our runs that ended ok, by seed."""
        return tuple(run.key for run in self.ended(row, dataset, split))

    def ours(self, row: Row, dataset: str, split: str, metric: str) -> Summary | None:
        """The metric over our seeds that ended ok. A metric that no table prints is given by our name."""
        name = self.names.metric(metric).ours or (metric if "/" in metric else f"{metric}/as-published")
        values = (run.metrics.get(name) for run in self.ended(row, dataset, split) if run.metrics is not None)
        return summarise(value for value in values if value is not None)

    def costs(self, row: Row, dataset: str, split: str, quantities: Sequence[str]) -> tuple[list[float], int]:
        """The median of each quantity over the runs that have all quantities, and the number of these runs."""
        rows = [[getattr(run, one) for one in quantities] for run in self.ended(row, dataset, split)]
        whole = [values for values in rows if None not in values]
        return [median(column) for column in zip(*whole, strict=True)], len(whole)

    def claims(self, sheet: str) -> list[Comparison]:
        """The claims of one table or figure of the paper."""
        return [*self._by_sheet.get(sheet, ())]

    def claim(self, sheet: str, row: Row, dataset: str, split: str, metric: str) -> Comparison | None:
        """The comparison of one entry of a table or figure, if it has a claim."""
        return self._claims.get((sheet, row.title, dataset, split, metric)) if row.printed else None

    def best_control(self, metric: str, places: Sequence[Place]) -> tuple[str, float] | None:
        """The control with the highest mean on the same datasets and splits, and its mean."""
        means = []
        for control in self.controls:
            values = values_of_control(control, self.names, self.book.runs, metric, places)
            if len(values):
                means.append((control, float(values.mean())))
        return max(means, key=lambda one: (one[1], one[0]), default=None)

    def title(self, published: str) -> str:
        """The title of a method or dataset in the paper, by its published name."""
        if self.book.several is None:
            return published
        paper = self.book.several.paper
        return {**paper.datasets, **paper.methods}.get(published, published)

    def remarks(self, dataset: str, splits: Sequence[str]) -> Iterator[str]:
        """Sentences on the members of derived rows, and on rows without a value."""
        for one in self.derived:
            row = Row(one.title, one.title, one.title)
            runs = [run for split in splits for run in self.ended(row, dataset, split)]
            counts = Counter((run.reason, run.unscored) for run in runs)
            if counts:
                yield one.rule
            for (members, lacking), count in counts.items():
                what = f"{counted(count, one.title)} of {members}"
                yield f"{what}, without value: {lacking}." if lacking else f"{what}."

    @cached_property
    def _by_sheet(self) -> Mapping[str, list[Comparison]]:
        members: dict[str, list[Comparison]] = {}
        for one in self.book.comparisons:
            members.setdefault(one.claim.sheet, []).append(one)
        return members

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str, str, str, str], Comparison]:
        claims = {}
        for one in self.book.comparisons:
            claim = one.claim
            claims[claim.sheet, claim.method, claim.dataset, claim.split, claim.metric] = one
        return claims

    def _here(self, target: Target, dataset: str, splits: Sequence[str]) -> bool:
        ours = {self.names.splits.get(split, split) for split in splits}
        return target.dataset == self.names.datasets.get(dataset) and target.split in ours
