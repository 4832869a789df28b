"""Tables of made-up values; nothing of them is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.base.vocabulary import Verdict
from harness.benchmarks.metric import Metric
from harness.contest import Contest, hold_contest
from harness.status import ScoredCell, Table
from tests.fabricate import drug_cell

HIGHER, LOWER = Metric("S1 F1/as-defined", "made up"), Metric("loss/as-defined", "made up", better="lower")

# By method and dataset the values of the seeds 1, 2, ...; a verdict stands for a run without one.
Values = Mapping[str, Mapping[str, Sequence[float | Verdict | None]]]


def contest_of(values: Values, metric: Metric = HIGHER) -> Contest:
    """The contest of these values; the methods in this order."""
    cells = [
        _cell(method, dataset, seed, value, metric)
        for method, datasets in values.items()
        for dataset, seeds in datasets.items()
        for seed, value in enumerate(seeds, start=1)
    ]
    return hold_contest(Table("made-up", len(cells), tuple(cells), 0), metric, list(values))


def _cell(method: str, dataset: str, seed: int, value: float | Verdict | None, metric: Metric) -> ScoredCell:
    verdict = value if isinstance(value, Verdict) else Verdict.OK
    # a score that lies there of a run that did not end ok must not count
    number = 0.99 if isinstance(value, Verdict) else value
    metrics = {metric.name: number}
    notes = {metric.name: "no class has two members"} if verdict is Verdict.OK and number is None else {}
    made = drug_cell(method, metrics, notes, seed=seed)
    job = made.cell.job.model_copy(update={"dataset": dataset})
    cell = replace(made.cell, job=job, verdict=verdict)
    return replace(made, cell=cell, scored=verdict is Verdict.OK, control=method == "constant")
