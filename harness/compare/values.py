"""Published values and ours in one form: by place, seed and metric, in published names.

Every statistic over several methods is computed from this form, so that it is the same for both sides.
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

# Not a metric: the duration of the training in seconds.
TIME = "train_time_s"
_FILES = ("per_seed.csv", "elsewhere.csv")

Array = NDArray[np.float64]
Values = Mapping[Place, Mapping[int, Mapping[str, float]]]


@dataclass(frozen=True)
class Side:
    """All values of one side. `means`: over all published runs, also those whose single values are not known.

    `failures`: why a place has no value, if all of its runs failed.
    """

    values: Values
    means: Mapping[tuple[Place, str], float] = field(default_factory=dict)
    failures: Mapping[Place, str] = field(default_factory=dict)

    def has(self, place: Place) -> bool:
        """Whether the place has a run."""
        return place in self.values

    def seeds(self, places: Iterable[Place], metric: str) -> list[int]:
        """The seeds for which each of these places has the metric."""
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
        """The values of one place, by seed."""
        values = (run.get(metric) for _, run in sorted(self.values.get(place, {}).items()))
        return np.array([value for value in values if value is not None], dtype=np.float64)

    def mean(self, place: Place, metric: str) -> float | None:
        """The published mean over all runs; without one, the mean over the known values."""
        if (place, metric) in self.means:
            return self.means[place, metric]
        values = self.all_of(place, metric)
        return float(values.mean()) if len(values) else None


def published_side(layout: Layout, names: PublishedNames, paper: PaperStatistics) -> Side:
    """The values in the authors' files, of every method of the paper and every dataset."""
    folder = layout.published / names.benchmark
    values: dict[Place, dict[int, dict[str, float]]] = {}
    for file in _FILES:
        for row in read_rows(folder / file, "seed", TIME):
            place = Place(row["dataset"], row["method"], row["split"])
            run = {metric: float(row[metric]) for metric in (*paper.metrics, TIME) if row[metric]}
            values.setdefault(place, {})[int(row["seed"])] = run
    return Side(values, _published_means(folder / "summary.csv", paper))


def our_side(names: PublishedNames, paper: PaperStatistics, runs: Runs) -> Side:
    """The values of our runs that ended ok and are scored."""
    methods, datasets = _inverse(names.methods), _inverse(names.datasets)
    splits = _inverse(names.splits)
    metrics = {metric: names.metric(metric).ours for metric in paper.metrics}
    values: dict[Place, dict[int, dict[str, float]]] = {}
    failures: dict[Place, str] = {}
    for target, runs_by_seed in runs.items():
        if target.method not in methods or target.dataset not in datasets or target.split not in splits:
            continue
        place = Place(datasets[target.dataset], methods[target.method], splits[target.split])
        for seed, run in runs_by_seed.items():
            if run.metrics is None:
                if run.verdict.is_final and run.verdict is not Verdict.OK:
                    failures[place] = f"{run.verdict}: {run.reason}"
                continue
            scores = {metric: run.metrics.get(ours) for metric, ours in metrics.items() if ours}
            values_of_run = {metric: value for metric, value in scores.items() if value is not None}
            if run.cpu_s is not None:
                values_of_run[TIME] = run.cpu_s
            values.setdefault(place, {})[seed] = values_of_run
    return Side(values, failures={place: why for place, why in failures.items() if place not in values})


def values_of_control(
    control: str, names: PublishedNames, runs: Runs, metric: str, places: Iterable[Place]
) -> Array:
    """The values of a control on the datasets and splits of these places. `metric` is a published name."""
    ours = names.metric(metric).ours or ""
    around = dict.fromkeys((names.datasets.get(place.dataset), names.splits.get(place.split)) for place in places)
    values = [
        run.metrics.get(ours)
        for dataset, split in around
        for _, run in sorted(runs.get(Target(control, dataset, split), {}).items())
        if run.metrics is not None
    ]
    return np.array([value for value in values if value is not None], dtype=np.float64)


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
