"""Statistics over several methods by their definitions: medians of the best, rank tests, differences of means."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from tests.recomputation.claims import Published, rows
from tests.recomputation.records import ROOT, mean, names, runs_of, toml

BENCHMARK, METRIC = "repurposing", "NS-AUC"
# Two-sided 99 % and 90 % of a normal distribution.
WIDE, NARROW = float(stats.norm.ppf(0.995)), float(stats.norm.ppf(0.95))
DRAWS = 200
# dataset, method, split, in published names
Where = tuple[str, str, str]
Values = Mapping[Where, Mapping[int, Mapping[str, float]]]


@cache
def paper() -> dict[str, Any]:
    """The content of `contrasts.toml`."""
    return toml(ROOT / "results" / "published" / BENCHMARK / "contrasts.toml")


@cache
def theirs() -> Values:
    """The published values by place and seed."""
    values: dict[Where, dict[int, dict[str, float]]] = {}
    for file in ("per_seed.csv", "elsewhere.csv"):
        for row in rows(BENCHMARK, file):
            run = {name: float(row[name]) for name in (*paper()["metrics"], "train_time_s") if row[name]}
            values.setdefault((row["dataset"], row["method"], row["split"]), {})[int(row["seed"])] = run
    return values


@cache
def their_means() -> dict[tuple[Where, str], float]:
    """The published means over all runs."""
    return {
        ((row["dataset"], row["method"], row["split"]), name): float(row[f"{name}_mean"])
        for row in rows(BENCHMARK, "summary.csv")
        for name in ("NS-AUC", "AUC")
        if row[f"{name}_mean"] and row["method"] in paper()["methods"]
    }


@cache
def ours() -> Values:
    """Our values by place and seed, of the committed runs."""
    own = names(BENCHMARK)
    metrics = {one["published"]: one["ours"] for one in own["metrics"] if "ours" in one}
    values: dict[Where, dict[int, dict[str, float]]] = {}
    for method, our_method in own["methods"].items():
        for dataset, our_dataset in own["datasets"].items():
            for split, our_split in own["splits"].items():
                for run in runs_of(BENCHMARK, our_method, own["variant"], our_dataset, our_split):
                    if run.verdict != "ok":
                        continue
                    scores = {
                        name: run.metrics.get(metrics[name]) for name in paper()["metrics"] if name in metrics
                    }
                    members = {name: value for name, value in scores.items() if value is not None}
                    if run.cpu_s is not None:
                        members["train_time_s"] = run.cpu_s
                    values.setdefault((dataset, method, split), {})[run.seed] = members
    return values


def column(values: Values, place: Where, metric: str = METRIC) -> list[float]:
    """All values of a place by seed."""
    return [run[metric] for _, run in sorted(values.get(place, {}).items()) if metric in run]


def middle(values: Values, place: Where, metric: str = METRIC) -> float | None:
    """The mean of a place: the published one over all runs, else over the known values."""
    if values is theirs() and (place, metric) in their_means():
        return their_means()[place, metric]
    own = column(values, place, metric)
    return mean(own) if own else None


def shared_seeds(values: Values, places: Sequence[Where], metric: str = METRIC) -> list[int]:
    """The seeds that all places have."""
    return sorted(
        set.intersection(
            *({seed for seed, run in values.get(place, {}).items() if metric in run} for place in places)
        )
    )


def best_three(values: Values, places: Sequence[Where], metric: str = METRIC) -> list[Where]:
    """The places with the highest means; of equal ones the first."""
    means = {place: value for place in places if (value := middle(values, place, metric)) is not None}
    return sorted(means, key=lambda place: means[place], reverse=True)[:3]


def groups_of(claim: Published, datasets: Sequence[str] = ()) -> list[list[Where]]:
    """The two groups of a contrast, or all methods of a median; places without published runs are left out."""
    every = list(paper()["datasets"]) if claim.dataset == "all" else [claim.dataset]
    datasets = datasets or every
    if claim.statistic == "median":
        sides = [(list(paper()["methods"]), claim.split)]
    else:
        (contrast,) = (one for one in paper()["contrasts"] if one["name"] == claim.method)
        sides = list(zip((contrast["first"], contrast["second"]), contrast["splits"], strict=True))
    groups = [[(dataset, method, split) for dataset in datasets for method in methods] for methods, split in sides]
    return [[place for place in group if place in theirs()] for group in groups]


def statistic(kind: str, values: Values, groups: list[list[Where]], seeds: Sequence[int]) -> float:
    """Of these seeds; an H is taken to the number of runs of the paper."""
    if kind == "median":
        groups = [best_three(values, groups[0])]
    samples = [[values[place][seed][METRIC] for place in group for seed in seeds] for group in groups]
    if kind == "median":
        return statistics.median(samples[0])
    if kind == "difference of means":
        return mean(samples[0]) - mean(samples[1])
    if len({*samples[0], *samples[1]}) == 1:
        return 0.0
    runs_of_paper = int(names(BENCHMARK)["seeds"]) * sum(map(len, groups))
    here = sum(map(len, samples))
    return float(stats.kruskal(*samples).statistic) * (runs_of_paper - 1) / (here - 1)


@dataclass(frozen=True)
class FromFiles:
    """A printed number computed again from the authors' files, and whether it agrees."""

    value: float
    n: int
    agrees: bool


@cache
def spread(kind: str, groups: tuple[tuple[Where, ...], ...], count: int) -> tuple[float, float]:
    """Mean and deviation of the statistic over draws of so many published seeds."""
    lists = [list(group) for group in groups]
    known = shared_seeds(theirs(), [place for group in lists for place in group])
    draws = np.random.default_rng(0).choice(known, size=(DRAWS, count))
    values = [statistic(kind, theirs(), lists, seeds) for seeds in draws.tolist()]
    return statistics.fmean(values), statistics.pstdev(values)


def from_files(claim: Published, datasets: Sequence[str] = ()) -> FromFiles:
    """The printed number from the authors' own files."""
    groups = groups_of(claim, datasets)
    if claim.statistic == "difference of means":
        means = [mean([their_means()[place, METRIC] for place in group]) for group in groups]
        value = means[0] - means[1]
        return FromFiles(value, names(BENCHMARK)["seeds"], abs(value - claim.value) <= claim.rounding + 1e-5)
    seeds = shared_seeds(theirs(), [place for group in groups for place in group])
    centre, sd = spread(claim.statistic, tuple(map(tuple, groups)), len(seeds))
    value = statistic(claim.statistic, theirs(), groups, seeds)
    return FromFiles(value, len(seeds), abs(claim.value - centre) <= WIDE * sd + claim.rounding)


def decision(claim: Published, values: Values) -> tuple[str | None, float | None, int]:
    """What our runs decide about a claim; `values` hold every method that it needs, or nothing is decided."""
    groups = groups_of(claim)
    places = [place for group in groups for place in group]
    if any(place not in values for place in places):
        return None, None, 0
    seeds = shared_seeds(values, places)
    if not seeds:
        return None, None, 0
    value = statistic(claim.statistic, values, groups, seeds)
    if len(seeds) < 10:
        return None, value, len(seeds)
    centre, sd = spread(claim.statistic, tuple(map(tuple, groups)), len(seeds))
    known = len(shared_seeds(theirs(), places))
    sd *= (1 + len(seeds) / known) ** 0.5
    low, high = (centre + sign * (WIDE * sd + claim.rounding) for sign in (-1, 1))
    if not low <= value <= high or not from_files(claim).agrees:
        return "deviates", value, len(seeds)
    no_effect = {"Kruskal-Wallis H": float(stats.chi2.isf(0.01, 1)), "difference of means": 0.0}
    if claim.statistic == "median":
        best = best_three(theirs(), groups[0])
        pooled = [theirs()[place][seed][METRIC] for place in best for seed in shared_seeds(theirs(), best)]
        margin = statistics.stdev(pooled)
    else:
        nothing = no_effect[claim.statistic]
        if low <= nothing and (claim.statistic != "difference of means" or nothing <= high):
            return None, value, len(seeds)
        margin = abs(centre - nothing)
    fits = abs(value - centre) + NARROW * sd <= margin + claim.rounding
    return ("reproduced" if fits else None), value, len(seeds)


def chance(h: float) -> float:
    """The p of an H of two groups."""
    return float(stats.chi2.sf(h, 1))
