"""The numbers of the paper's figures, of both sides: the drawings and the sheets are made from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from harness.compare.comparison import ClaimVerdict
from harness.compare.groups import DEVIATIONS, EQUIVALENCE_DEVIATIONS
from harness.compare.means import FEWEST_SEEDS
from harness.compare.paper import Place
from harness.compare.statistics import CONFIDENCE, EQUIVALENCE, Array, ranks_of
from harness.compare.values import TIME, Side
from harness.study.sides import Sides

# Figure 3's panels: metric and split, as published.
PANELS = (
    ("AUC", "random_simple"),
    ("AUC", "weakly_correlated"),
    ("NS-AUC", "random_simple"),
    ("NS-AUC", "weakly_correlated"),
)
# The split of Figure 4's times.
TIMED_SPLIT = PANELS[0][1]
# Figure 4 shows methods that are among the best at least so often.
_OFTEN = 2
_FASTEST = 3
_DRAWS = 200
# Three methods deviate if fewer draws of the authors' own runs give the same three.
_RARE = 0.01
# Two correlations are the same where the 90 % range of their difference lies within a tenth.
_SAME_CORRELATION = 0.1
# Means that differ by less are printed alike.
_PRINTED = 0.005
# the title of our own correlogram
_OURS = "ours"


@dataclass(frozen=True)
class Pair:
    """Two metrics over runs: rank correlation, and the regression of the second on the first."""

    first: str
    second: str
    rho: float
    r2: float
    slope: float
    intercept: float


@dataclass(frozen=True)
class Correlogram:
    """Figure 2b for a set of runs; runs with an undefined metric are left out."""

    title: str
    runs: int
    metrics: tuple[str, ...]
    values: Array
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Best:
    """One dataset in a panel of Figure 3: the three best of each side, and whether they are the same."""

    dataset: str
    published: tuple[str, ...]
    ours: tuple[str, ...]
    n: int
    verdict: ClaimVerdict
    reason: str
    control: tuple[str, float] | None
    boxes: tuple[tuple[str, Array, Array], ...]


@dataclass(frozen=True)
class Panel:
    """One panel of Figure 3."""

    metric: str
    split: str
    datasets: tuple[Best, ...]


@dataclass(frozen=True)
class Times:
    """One dataset of Figure 4: the training times of the three fastest methods."""

    dataset: str
    boxes: tuple[tuple[str, Array, Array], ...]
    why_without: str


@dataclass(frozen=True)
class Figures:
    """All figures of the paper that consist of results."""

    correlograms: tuple[Correlogram, ...]
    panels: tuple[Panel, ...]
    times: tuple[Times, ...]
    titles: Mapping[str, str]
    # for every pair of metrics: whether our correlation is in the range of the authors' runs, and the range
    agreement: tuple[tuple[ClaimVerdict, str], ...]

    def title(self, published: str) -> str:
        """The title of a method, dataset, metric or split by its published name."""
        return self.titles.get(published, published).replace("_", " ")


def make_figures(sides: Sides) -> Figures:
    """All figures."""
    panels = tuple(_panel(sides, metric, split) for metric, split in PANELS)
    paper, names = sides.several.paper, sides.several.names
    # no name of a dataset is another one's title, so that one mapping serves all
    titles = {**names.splits, **paper.metrics, **paper.datasets, **paper.methods}
    correlograms = _correlograms(sides)
    return Figures(correlograms, panels, _times(sides, panels), titles, _agreement(sides, correlograms))


def _correlograms(sides: Sides) -> tuple[Correlogram, ...]:
    """The correlograms of all published runs, of those where we have runs too, and of our runs."""
    published, ours = sides.several.published, sides.several.ours
    shared = [place for place in published.values if ours.has(place)]
    correlograms = (
        ("published, all", _correlogram(sides, published, list(published.values))),
        ("published, where we have runs", _correlogram(sides, published, shared)),
        (_OURS, _correlogram(sides, ours, shared)),
    )
    return tuple(replace(one, title=title) for title, one in correlograms if one is not None)


def _correlogram(sides: Sides, side: Side, places: Sequence[Place]) -> Correlogram | None:
    metrics = tuple(sides.several.paper.metrics)
    runs = [run for place in sorted(places) for _, run in sorted(side.values[place].items())]
    rows = [[run[metric] for metric in metrics] for run in runs if all(metric in run for metric in metrics)]
    if len(rows) <= len(metrics):
        return None
    values = np.array(rows)
    ranks = _correlations(ranks_of(values.T).T)
    linear = _correlations(values)
    pairs = []
    for one, other in combinations(range(len(metrics)), 2):
        first, second = values[:, one], values[:, other]
        spread = first.var()
        slope = float(((first - first.mean()) * (second - second.mean())).mean() / spread) if spread else 0.0
        pairs.append(
            Pair(
                metrics[one],
                metrics[other],
                float(ranks[one, other]),
                float(linear[one, other] ** 2),
                slope,
                float(second.mean() - slope * first.mean()),
            )
        )
    return Correlogram("", len(rows), metrics, values, tuple(pairs))


def _agreement(sides: Sides, correlograms: Sequence[Correlogram]) -> tuple[tuple[ClaimVerdict, str], ...]:
    """The verdict on each of our correlations, by draws of as many seeds of the authors' runs."""
    several = sides.several
    published, ours = several.published, several.ours
    count = len(correlograms[0].pairs) if correlograms else 0
    expected = [place for place in published.values if not several.why_without(place.dataset)]
    if absent := [place for place in expected if not ours.has(place)]:
        return ((ClaimVerdict.PENDING, f"{len(absent)} of {len(expected)} not run yet"),) * count
    places = [place for place in expected if all(published.seeds([place], name) for name in several.paper.metrics)]
    n = min((len(ours.values[place]) for place in places), default=0)
    if n < FEWEST_SEEDS:
        return ((ClaimVerdict.NOT_COMPARABLE, f"{n} seeds"),) * count
    mine = next((one for one in correlograms if one.title == _OURS), None)
    if mine is None:
        return ((ClaimVerdict.NOT_COMPARABLE, "too few of our runs have every metric"),) * count
    seeds = published.seeds(places, several.paper.metric)
    tables = np.stack([published.table(places, seeds, name) for name in several.paper.metrics], axis=-1)
    random = np.random.default_rng(0)
    draws = []
    for _ in range(_DRAWS // 2):
        sample = tables[:, random.choice(len(seeds), size=n)].reshape(-1, tables.shape[-1])
        draws.append(_correlations(ranks_of(sample.T).T)[np.triu_indices(tables.shape[-1], 1)])
    centre, spread = np.mean(draws, axis=0), np.std(draws, axis=0)
    spread *= np.sqrt(1 + n / len(seeds))
    pairs = zip(mine.pairs, centre, spread, strict=True)
    return tuple(_same_correlation(pair.rho, mean, sd) for pair, mean, sd in pairs)


def _same_correlation(rho: float, centre: float, sd: float) -> tuple[ClaimVerdict, str]:
    """Whether our correlation is that of the authors' runs, of which draws have this mean and deviation."""
    low, high = centre - DEVIATIONS * sd, centre + DEVIATIONS * sd
    reason = f"{CONFIDENCE:.0%} range of the authors' runs: {low:+.2f} to {high:+.2f}"
    if not low <= rho <= high:
        return ClaimVerdict.DEVIATES, reason
    if abs(rho - centre) + EQUIVALENCE_DEVIATIONS * sd > _SAME_CORRELATION:
        what = f"too few runs: the {EQUIVALENCE:.0%} range of the difference is not within ± {_SAME_CORRELATION}"
        return ClaimVerdict.NOT_COMPARABLE, f"{what}; {reason}"
    return ClaimVerdict.REPRODUCED, reason


def _correlations(values: Array) -> Array:
    """Pearson's correlations of columns; 0 for a column that does not vary."""
    deviations = values - values.mean(axis=0)
    scale = np.sqrt((deviations**2).sum(axis=0))
    scaled = deviations / np.where(scale > 0, scale, 1.0)
    return np.asarray(scaled.T @ scaled)


def _panel(sides: Sides, metric: str, split: str) -> Panel:
    paper = sides.several.paper
    return Panel(metric, split, tuple(_best(sides, metric, split, dataset) for dataset in paper.datasets))


def _best(sides: Sides, metric: str, split: str, dataset: str) -> Best:
    several = sides.several
    published, ours = several.published, several.ours
    places = [place for method in several.paper.methods if published.has(place := Place(dataset, method, split))]
    theirs = [place.method for place in several.best(published, places, metric)]
    ours_here = [place for place in places if ours.has(place)]
    mine = [place.method for place in several.best(ours, ours_here, metric)]
    n = min((len(ours.all_of(place, metric)) for place in ours_here), default=0)
    methods = dict.fromkeys((*theirs, *mine))
    boxes = tuple(
        (place.method, published.all_of(place, metric), ours.all_of(place, metric))
        for place in (Place(dataset, method, split) for method in methods)
    )
    if why := several.why_without(dataset):
        verdict, reason = ClaimVerdict.NOT_COMPARABLE, f"no data here: {why}"
    elif len(ours_here) < len(places):
        verdict, reason = ClaimVerdict.PENDING, f"{len(ours_here)} of {len(places)} methods run"
    else:
        verdict, reason = _same_three(published, places, metric, theirs, mine, n)
        if verdict is ClaimVerdict.REPRODUCED:
            reason += several.told_of_fits((Place(dataset, name, split) for name in mine), metric)
    control = sides.best_control(metric, places)
    return Best(dataset, tuple(theirs), tuple(mine), n, verdict, reason, control, boxes)


def _same_three(
    published: Side, places: Sequence[Place], metric: str, theirs: Sequence[str], mine: Sequence[str], n: int
) -> tuple[ClaimVerdict, str]:
    if n < FEWEST_SEEDS:
        return ClaimVerdict.NOT_COMPARABLE, f"{n} seeds"
    means_of = {place.method: published.mean(place, metric) or 0.0 for place in places}
    if theirs == mine:
        return ClaimVerdict.REPRODUCED, "the same three in the same order"
    if set(theirs) == set(mine):
        return ClaimVerdict.REPRODUCED, "the same three in another order"
    third = min(means_of[method] for method in theirs)
    if all(means_of[method] >= third - _PRINTED for method in mine):
        return ClaimVerdict.REPRODUCED, "another three, equal to those in two decimals"
    seeds = published.seeds(places, metric)
    values = published.table(places, seeds, metric)
    draws = np.random.default_rng(0).integers(0, len(seeds), size=(_DRAWS, n))
    means = values[:, draws].mean(axis=-1)
    threes = np.argsort(-means, axis=0, kind="stable")[: len(theirs)]
    ours = {place for place, one in enumerate(places) if one.method in mine}
    share = float(np.mean([set(threes[:, draw].tolist()) == ours for draw in range(_DRAWS)]))
    if share < _RARE:
        often = f"in {share:.1%} of draws" if share else "in no draw"
        return ClaimVerdict.DEVIATES, f"{n} seeds of the authors' own runs give these three {often}"
    reason = f"another three, which {share:.0%} of draws of {n} seeds of the authors' own runs give as well"
    return ClaimVerdict.NOT_COMPARABLE, reason


def _times(sides: Sides, panels: Sequence[Panel]) -> tuple[Times, ...]:
    several = sides.several
    counts = Counter(method for panel in panels for best in panel.datasets for method in best.published)
    often = [method for method, count in counts.items() if count >= _OFTEN]
    all_times = []
    for dataset in several.paper.datasets:
        places = [Place(dataset, method, TIMED_SPLIT) for method in often]
        places = [place for place in places if several.published.has(place)]
        places.sort(key=lambda place: float(several.published.all_of(place, TIME).mean()))
        boxes = tuple(
            (place.method, several.published.all_of(place, TIME), several.ours.all_of(place, TIME))
            for place in places[:_FASTEST]
        )
        all_times.append(Times(dataset, boxes, several.why_without(dataset)))
    return tuple(all_times)
