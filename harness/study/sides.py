"""Both sides of a study by row, split and metric: what the paper prints, and means over our runs.

A row is a method of the paper, or one of ours that the paper does not have: a control, another variant of a
method, or what is made of several runs. Only the paper's rows, as published, are held against a printed number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare.book import Book
from harness.compare.groups import Several
from harness.compare.judge import Comparison
from harness.compare.names import PublishedNames, Target
from harness.compare.paper import Place
from harness.compare.runs import Obtained, Runs
from harness.compare.values import reached_by
from harness.status.table import Summary, summarise

# What stands in the place of a variant's name.
CONTROL = "control"


@dataclass(frozen=True)
class Row:
    """A method of the paper in its words, or `mlp/corrected` and `majority_type` of ours."""

    title: str
    method: str
    variant: str = ""

    @property
    def printed(self) -> bool:
        """Whether the paper has it."""
        return not self.variant


@dataclass(frozen=True)
class Derived:
    """Rows made of several runs each, such as an ensemble; `reason` of one names its members."""

    title: str
    rule: str
    runs: Runs


@dataclass(frozen=True)
class Sides:
    """The book of the claims, by row of the paper's tables. Datasets, splits and metrics have published names."""

    layout: Layout
    book: Book
    names: PublishedNames
    controls: tuple[str, ...]
    derived: tuple[Derived, ...] = ()

    @property
    def several(self) -> Several:
        """Both sides over several methods: only where the paper has such statistics."""
        assert self.book.several is not None
        return self.book.several

    def rows(self, dataset: str, splits: Sequence[str]) -> list[Row]:
        """The paper's methods in its order, then what else was run there; controls last."""
        rows = [Row(title, method) for title, method in self.names.methods.items()]
        for variant, runs in self.book.beside.items():
            methods = {target.method or "" for target in runs if self._here(target, dataset, splits)}
            rows += [Row(f"{method}/{variant}", method, variant) for method in sorted(methods)]
        for one in self.derived:
            if any(self._here(target, dataset, splits) for target in one.runs):
                rows.append(Row(one.title, one.title, one.title))
        return rows + [Row(control, control, CONTROL) for control in self.controls]

    def runs(self, row: Row, dataset: str, split: str) -> dict[int, Obtained]:
        """Our runs by seed, however they ended."""
        target = Target(row.method, self.names.datasets.get(dataset), self.names.splits.get(split, split))
        if row.variant in ("", CONTROL):
            return self.book.runs.get(target, {})
        made = {one.title: one.runs for one in self.derived}
        return {**self.book.beside, **made}.get(row.variant, {}).get(target, {})

    def ended(self, row: Row, dataset: str, split: str) -> list[Obtained]:
        """Our runs that ended ok, by seed."""
        return [run for _, run in sorted(self.runs(row, dataset, split).items()) if run.verdict is Verdict.OK]

    def ours(self, row: Row, dataset: str, split: str, metric: str) -> Summary | None:
        """The metric over our seeds that ended ok; one that no table prints has our name from the start."""
        name = self.names.metric(metric).ours or (metric if "/" in metric else f"{metric}/as-published")
        values = (run.metrics.get(name) for run in self.ended(row, dataset, split) if run.metrics is not None)
        return summarise(value for value in values if value is not None)

    def costs(self, row: Row, dataset: str, split: str, quantities: Sequence[str]) -> tuple[list[float], int]:
        """The median of each quantity over the runs that have all of them; and how many these are."""
        measured = [[getattr(run, one) for one in quantities] for run in self.ended(row, dataset, split)]
        whole = [values for values in measured if None not in values]
        return [median(column) for column in zip(*whole, strict=True)], len(whole)

    def claims(self, table: str) -> list[Comparison]:
        """The claims of one table of the paper."""
        return [one for one in self.book.comparisons if one.claim.source.startswith(f"Table {table},")]

    def claim(self, table: str, row: Row, dataset: str, split: str, metric: str) -> Comparison | None:
        """The claim of one entry with its verdict."""
        return self._claims.get((table, row.title, dataset, split, metric)) if row.printed else None

    def best_control(self, metric: str, places: Sequence[Place]) -> tuple[str, float] | None:
        """The control with the highest mean on the same datasets and splits: what a method must beat."""
        reached = {
            control: reached_by(control, self.names, self.book.runs, metric, places) for control in self.controls
        }
        means = [(float(values.mean()), control) for control, values in reached.items() if len(values)]
        if not means:
            return None
        mean, control = max(means)
        return control, mean

    def title(self, published: str) -> str:
        """A published method or dataset as the paper prints it."""
        if self.book.several is None:
            return published
        paper = self.book.several.paper
        return {**paper.datasets, **paper.methods}.get(published, published)

    def remarks(self, dataset: str, splits: Sequence[str]) -> Iterator[str]:
        """Of what the derived rows are made, and why some have no value."""
        for one in self.derived:
            row = Row(one.title, one.title, one.title)
            made = [run for split in splits for run in self.ended(row, dataset, split)]
            counts = Counter((run.reason, run.unscored) for run in made)
            if counts:
                yield one.rule
            for (members, lacking), count in counts.items():
                what = f"{count} {one.title}{'' if count == 1 else 's'} of {members}"
                yield f"{what}, without value: {lacking}." if lacking else f"{what}."

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str, str, str, str], Comparison]:
        keyed = {}
        for one in self.book.comparisons:
            number = one.claim.source.partition(",")[0].removeprefix("Table ")
            keyed[number, one.claim.method, one.claim.dataset, one.claim.split, one.claim.metric] = one
        return keyed

    def _here(self, target: Target, dataset: str, splits: Sequence[str]) -> bool:
        wanted = {self.names.splits.get(split, split) for split in splits}
        return target.dataset == self.names.datasets.get(dataset) and target.split in wanted
