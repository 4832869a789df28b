"""Tests between methods: signed ranks over common seeds, Friedman's test and Nemenyi's difference over datasets.

docs/decisions/tests-between-methods.md says why these. All work on plain numbers; larger is better everywhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from harness.compare.statistics import Array, ranks_of

SIGNIFICANCE = 0.05
# Metrics are sums of doubles: what is smaller than this is no difference, and closer than this is a tie.
_DECIMALS = 12
# The exact distribution of Friedman's statistic is left alone where it would take more steps than these.
_MOST_STEPS = 400_000


@dataclass(frozen=True)
class PairedTest:
    """What the differences of two methods over common seeds show; positive where the first is better."""

    n: int
    difference: float
    # two-sided, exact, of Wilcoxon's signed-rank test; 1 where no difference is left
    p: float
    # the share of seeds on which the first is better, less the share on which the second is (Cliff)
    dominance: float
    # mean difference by its standard deviation (Cohen); None where it is not defined
    dz: float | None


@dataclass(frozen=True)
class RankTest:
    """Friedman's test of methods (columns) over datasets (rows), and Nemenyi's critical difference."""

    ranks: tuple[float, ...]
    blocks: int
    statistic: float
    p: float
    # whether `p` is exact, not Iman and Davenport's approximation
    exact: bool
    critical_difference: float


def paired_test(first: Sequence[float], second: Sequence[float]) -> PairedTest:
    """Wilcoxon's test and effect sizes of values that belong together."""
    differences = np.round(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64), _DECIMALS)
    signs, count = np.sign(differences), len(differences)
    # of equal differences the deviation is 0, or what is lost in their mean
    deviation = float(differences.std(ddof=1)) if np.ptp(differences) else 0.0
    return PairedTest(
        n=count,
        difference=float(differences.mean()),
        p=signed_rank_p(differences),
        dominance=float(signs.mean()),
        dz=float(differences.mean()) / deviation if deviation else None,
    )


def signed_rank_p(differences: Sequence[float] | Array) -> float:
    """The two-sided p-value of the signed ranks, exact with ties too: over all signs that these ranks could have.

    Differences of 0 are left out, as Wilcoxon does.
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    if not values.size:
        return 1.0
    # twice the mean ranks are whole numbers, so that their sums can be counted
    doubled = np.rint(2 * ranks_of(np.abs(values))).astype(int)
    chances = np.ones(1)
    for rank in doubled:
        with_rank = np.concatenate([np.zeros(rank), chances])
        chances = (np.concatenate([chances, np.zeros(rank)]) + with_rank) / 2
    positive = int(doubled[values > 0].sum())
    smaller = min(positive, int(doubled.sum()) - positive)
    return min(1.0, 2 * float(chances[: smaller + 1].sum()))


def smallest_p(count: int) -> float:
    """The p-value where one method is better on each of so many seeds: there is no smaller one."""
    return float(min(1.0, 2.0 ** (1 - count)))


def seeds_to_decide(comparisons: int) -> int:
    """The seeds it takes for a method that is always better to be significantly so, after Holm's correction."""
    return math.ceil(1 - math.log2(SIGNIFICANCE / max(comparisons, 1)))


def holm(chances: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given: the largest p (m - rank) over this and all smaller ones."""
    ordered = sorted(range(len(chances)), key=lambda place: chances[place])
    results, largest = [0.0] * len(chances), 0.0
    for step, place in enumerate(ordered):
        largest = max(largest, min(1.0, chances[place] * (len(chances) - step)))
        results[place] = largest
    return results


def ranks_from_best(values: Array) -> Array:
    """Ranks along the last axis, 1 for the largest value; equal values share the mean of theirs."""
    return ranks_of(-np.round(values, _DECIMALS))


def rank_test(values: Array) -> RankTest:
    """Friedman's test, corrected for ties, of at least two rows and three columns."""
    ranks = ranks_from_best(values)
    blocks, count = ranks.shape
    statistic = _statistic(ranks.sum(axis=0), ranks)
    exact = _exact_p(ranks)
    return RankTest(
        ranks=tuple(float(one) for one in ranks.mean(axis=0)),
        blocks=blocks,
        statistic=statistic,
        p=_approximate_p(statistic, blocks, count) if exact is None else exact,
        exact=exact is not None,
        critical_difference=nemenyi_quantile(count) * math.sqrt(count * (count + 1) / (6 * blocks)),
    )


def nemenyi_quantile(count: int) -> float:
    """The range of so many independent standard normal values that chance exceeds at the level, by root two."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    places = np.linspace(-9.0, 9.0, 4001)
    density = np.exp(-(places**2) / 2) / math.sqrt(2 * math.pi)

    def excess(width: float) -> float:
        below = count * np.trapezoid(density * (ndtr(places) - ndtr(places - width)) ** (count - 1), places)
        return float(1 - below - SIGNIFICANCE)

    return float(brentq(excess, 0.1, 20.0, xtol=1e-10)) / math.sqrt(2)


def _statistic(sums: Array, ranks: Array) -> float:
    blocks, count = ranks.shape
    between = ((sums - blocks * (count + 1) / 2) ** 2).sum()
    total = (ranks**2).sum() - blocks * count * (count + 1) ** 2 / 4
    return float((count - 1) * between / total) if total > 0 else 0.0


def _approximate_p(statistic: float, blocks: int, count: int) -> float:
    from scipy.special import fdtrc

    rest = blocks * (count - 1) - statistic
    if rest <= 0:
        return 0.0
    return float(fdtrc(count - 1, (count - 1) * (blocks - 1), (blocks - 1) * statistic / rest))


def _exact_p(ranks: Array) -> float | None:
    """The chance of a statistic as large, over all orders of each row's ranks; None if there are too many.

    The statistic does not ask which column a sum belongs to, so sums are counted in order of size.
    """
    count = ranks.shape[1]
    rows = [tuple(int(one) for one in np.rint(2 * row)) for row in ranks]
    sums: Counter[tuple[int, ...]] = Counter({tuple(sorted(rows[0])): 1})
    steps = 0
    for row in rows[1:]:
        if math.factorial(count) * len(sums) > _MOST_STEPS - steps:
            return None
        orders = Counter(permutations(row))
        steps += len(orders) * len(sums)
        longer: Counter[tuple[int, ...]] = Counter()
        for one, ways in sums.items():
            for order, times in orders.items():
                longer[tuple(sorted(map(sum, zip(one, order, strict=True))))] += ways * times
        sums = longer
    own = _spread(np.asarray(rows).sum(axis=0).tolist())
    return sum(ways for one, ways in sums.items() if _spread(one) >= own) / sums.total()


def _spread(sums: Sequence[int]) -> int:
    """What orders the statistic of rows with the same ranks: the sum of the squares of their sums."""
    return sum(one * one for one in sums)
