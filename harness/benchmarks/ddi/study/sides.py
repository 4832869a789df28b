"""Both sides of the study by row, split and metric: what the paper prints, and means over our runs.

A row is a method of the paper, or one of ours that the paper does not have: a control, another variant of a
method, or the ensemble. Only the paper's rows, as published, are ever held against a printed number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median

from harness.base.vocabulary import Verdict
from harness.benchmarks.ddi.study.ensemble import ENSEMBLE
from harness.compare.book import Book
from harness.compare.judge import Comparison
from harness.compare.names import Names, Target
from harness.compare.obtained import Obtained, Runs
from harness.status.table import Summary, summarise

# What stands in the place of a variant's name.
CONTROL = "control"


@dataclass(frozen=True)
class Row:
    """A line of a table: a method of the paper in its name, or `mlp/corrected` and `majority_type` of ours."""

    title: str
    method: str
    variant: str = ""

    @property
    def printed(self) -> bool:
        """Whether the paper has it."""
        return not self.variant


@dataclass(frozen=True)
class Sides:
    """The book of the claims, seen as the paper's tables see it. Datasets and splits in published words."""

    book: Book
    names: Names
    controls: tuple[str, ...]
    ensembles: Runs = field(default_factory=dict)

    def rows(self, dataset: str, *splits: str) -> list[Row]:
        """The paper's methods in its order, then what else was run there; controls last."""
        rows = [Row(title, method) for title, method in self.names.methods.items()]
        for variant, runs in self.book.beside.items():
            found = {target.method or "" for target in runs if self._here(target, dataset, splits)}
            rows += [Row(f"{method}/{variant}", method, variant) for method in sorted(found)]
        if any(self._here(target, dataset, splits) for target in self.ensembles):
            rows.append(Row(ENSEMBLE, ENSEMBLE, ENSEMBLE))
        return rows + [Row(control, control, CONTROL) for control in self.controls]

    def ours(self, row: Row, dataset: str, split: str, metric: str) -> Summary | None:
        """The metric over our seeds that ended ok."""
        found = (run.metrics.get(metric) for run in self.runs(row, dataset, split) if run.metrics is not None)
        return summarise(value for value in found if value is not None)

    def claim(self, table: str, row: Row, split: str, metric: str) -> Comparison | None:
        """The claim of one entry with its verdict. Metrics in published words."""
        return self._claims.get((table, row.title, split, metric)) if row.printed else None

    def runs(self, row: Row, dataset: str, split: str) -> list[Obtained]:
        """Our runs that ended ok, by seed."""
        target = Target(row.method, self.names.datasets.get(dataset), self.names.splits.get(split, split))
        runs: Runs = self.book.runs
        if row.variant == ENSEMBLE:
            runs = self.ensembles
        elif row.variant not in ("", CONTROL):
            runs = self.book.beside.get(row.variant, {})
        return [run for _, run in sorted(runs.get(target, {}).items()) if run.verdict is Verdict.OK]

    def cost(self, row: Row, dataset: str, split: str) -> tuple[float, float, int] | None:
        """Median CPU minutes and peak megabytes of a run, and over how many."""
        found = self.runs(row, dataset, split)
        known = [(run.cpu_s, run.memory) for run in found if run.cpu_s is not None and run.memory is not None]
        if not known:
            return None
        seconds, memory = zip(*known, strict=True)
        return median(seconds) / 60, median(memory) / 1e6, len(known)

    def metric(self, published: str) -> str:
        """Our name of a published metric."""
        return self.names.metric(published).ours or published

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str, str, str], Comparison]:
        return dict(self._keyed())

    def _keyed(self) -> Iterator[tuple[tuple[str, str, str, str], Comparison]]:
        for one in self.book.comparisons:
            number = one.claim.source.partition(",")[0].removeprefix("Table ")
            yield (number, one.claim.method, one.claim.split, one.claim.metric), one

    def _here(self, target: Target, dataset: str, splits: tuple[str, ...]) -> bool:
        wanted = {self.names.splits.get(split, split) for split in splits}
        return target.dataset == self.names.datasets.get(dataset) and target.split in wanted
