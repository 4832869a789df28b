"""Runs of both sides in one shape: published values and ours, by place, seed and metric, in published names.

Every statistic over several methods is one function of such values, so that it can't mean two things.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare.claims import read_rows
from harness.compare.names import PublishedNames, Target
from harness.compare.paper import PaperStatistics, Place
from harness.compare.runs import Runs

# Not a metric: how long the training took, in seconds.
TIME = "train_time_s"
_FILES = ("per_seed.csv", "elsewhere.csv")

Array = NDArray[np.float64]
Values = Mapping[Place, Mapping[int, Mapping[str, float]]]


@dataclass(frozen=True)
class Side:
    """All values of one side. `means`: of all published runs, also of those whose values are not known here.

    `failures`: why there is no value where only failed runs are.
    """

    values: Values
    means: Mapping[tuple[Place, str], float] = field(default_factory=dict)
    failures: Mapping[Place, str] = field(default_factory=dict)

    def has(self, place: Place) -> bool:
        """Whether there is a run."""
        return place in self.values

    def seeds(self, places: Iterable[Place], metric: str) -> list[int]:
        """The seeds for which all these places have the metric."""
        shared: set[int] | None = None
        for place in places:
            here = {seed for seed, run in self.values.get(place, {}).items() if metric in run}
            shared = here if shared is None else shared & here
        return sorted(shared or ())

    def table(self, places: Sequence[Place], seeds: Sequence[int], metric: str) -> Array:
        """A row per place, a column per seed."""
        rows = [[self.values[place][seed][metric] for seed in seeds] for place in places]
        return np.array(rows, dtype=np.float64).reshape(len(places), len(seeds))

    def all_of(self, place: Place, metric: str) -> Array:
        """Every value of one place."""
        found = (run.get(metric) for _, run in sorted(self.values.get(place, {}).items()))
        return np.array([value for value in found if value is not None], dtype=np.float64)

    def mean(self, place: Place, metric: str) -> float | None:
        """The mean over all runs there ever were, where it was published; else over those that are known."""
        if (place, metric) in self.means:
            return self.means[place, metric]
        values = self.all_of(place, metric)
        return float(values.mean()) if len(values) else None


def published_side(layout: Layout, names: PublishedNames, paper: PaperStatistics) -> Side:
    """What the authors' files say, of every method of the paper and every dataset."""
    folder = layout.published / names.benchmark
    values: dict[Place, dict[int, dict[str, float]]] = {}
    for file in _FILES:
        for row in read_rows(folder / file, "seed", TIME):
            place = Place(row["dataset"], row["method"], row["split"])
            run = {metric: float(row[metric]) for metric in (*paper.metrics, TIME) if row[metric]}
            values.setdefault(place, {})[int(row["seed"])] = run
    return Side(values, _published_means(folder / "summary.csv", paper))


def our_side(names: PublishedNames, paper: PaperStatistics, runs: Runs) -> Side:
    """Our runs that ended ok and are scored."""
    methods, datasets = _inverse(names.methods), _inverse(names.datasets)
    splits = _inverse(names.splits)
    metrics = {metric: names.metric(metric).ours for metric in paper.metrics}
    values: dict[Place, dict[int, dict[str, float]]] = {}
    failures: dict[Place, str] = {}
    for target, found in runs.items():
        if target.method not in methods or target.dataset not in datasets or target.split not in splits:
            continue
        place = Place(datasets[target.dataset], methods[target.method], splits[target.split])
        for seed, run in found.items():
            if run.metrics is None:
                if run.verdict.is_final and run.verdict is not Verdict.OK:
                    failures[place] = f"{run.verdict}: {run.reason}"
                continue
            scores = {metric: run.metrics.get(ours) for metric, ours in metrics.items() if ours}
            told = {metric: value for metric, value in scores.items() if value is not None}
            if run.cpu_s is not None:
                told[TIME] = run.cpu_s
            values.setdefault(place, {})[seed] = told
    return Side(values, failures={place: why for place, why in failures.items() if place not in values})


def reached_by(control: str, names: PublishedNames, runs: Runs, metric: str, places: Iterable[Place]) -> Array:
    """What a control reached on the datasets and splits of these places. `metric` is a published name."""
    ours = names.metric(metric).ours or ""
    around = dict.fromkeys((names.datasets.get(place.dataset), names.splits.get(place.split)) for place in places)
    found = [
        run.metrics.get(ours)
        for dataset, split in around
        for _, run in sorted(runs.get(Target(control, dataset, split), {}).items())
        if run.metrics is not None
    ]
    return np.array([value for value in found if value is not None], dtype=np.float64)


def _published_means(path: Path, paper: PaperStatistics) -> dict[tuple[Place, str], float]:
    means = {}
    for row in read_rows(path, "NS-AUC_mean", "AUC_mean"):
        if row["method"] in paper.methods:
            for metric in ("NS-AUC", "AUC"):
                if row[f"{metric}_mean"]:
                    place = Place(row["dataset"], row["method"], row["split"])
                    means[place, metric] = float(row[f"{metric}_mean"])
    return means


def _inverse(mapping: dict[str, str]) -> dict[str | None, str]:
    return {ours: published for published, ours in mapping.items()}
