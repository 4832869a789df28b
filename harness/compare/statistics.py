"""The tests that decide about claims: intervals of one mean and of two, Kruskal and Wallis' for two groups' ranks.

The tests of ranks work along the last axis, so that a thousand samples cost one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.99
SIGNIFICANCE = 1 - CONFIDENCE
# Two one-sided tests at 5 % each: the 90 % interval must lie within a margin.
EQUIVALENCE = 0.90
# Where more runs than this would be needed, no number of runs is said to decide.
MOST_RUNS = 10_000

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def half_width(sd: float, n: int) -> float:
    """Half the width of the 90 % interval of a mean of n runs, by Student's t; there are two runs at least."""
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1 + EQUIVALENCE) / 2)) * sd / math.sqrt(n)


def welch_half_width(
    sd_ours: float, n_ours: int, sd_theirs: float, n_theirs: int, confidence: float = CONFIDENCE
) -> float:
    """Half the width of the two-sided interval for unequal variances, with Satterthwaite's degrees of freedom."""
    from scipy.special import stdtrit

    ours, theirs = sd_ours**2 / n_ours, sd_theirs**2 / n_theirs
    if ours + theirs == 0.0:
        return 0.0
    # with shares, so that tiny variances do not become 0 when squared
    share = ours / (ours + theirs)
    freedom = 1 / (share**2 / max(n_ours - 1, 1) + (1 - share) ** 2 / max(n_theirs - 1, 1))
    return float(stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(ours + theirs)


def runs_needed(decides: Callable[[int], bool], least: int) -> int | None:
    """The smallest number of runs, `least` or more, that decides; None where no number up to `MOST_RUNS` does.

    Intervals become narrower with every run, so that what decides also decides with more runs.
    """
    if not decides(max(least, MOST_RUNS)):
        return None
    low, high = least, max(least, MOST_RUNS)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle + 1, high)
    return low


def ranks_of(values: Array) -> Array:
    """Ranks from 1 along the last axis; equal values share the mean of theirs."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    differs = ordered[..., 1:] != ordered[..., :-1]
    edge = np.ones((*values.shape[:-1], 1), dtype=bool)
    place = np.arange(values.shape[-1])
    first = np.maximum.accumulate(np.where(np.concatenate([edge, differs], axis=-1), place, 0), axis=-1)
    ends = np.where(np.concatenate([differs, edge], axis=-1), place, place[-1])
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


def places_among(tables: Sequence[Array]) -> list[Places]:
    """For each value its place among the different values of all tables, which ranks like the value itself."""
    flat = [table.ravel() for table in tables]
    places = np.unique(np.concatenate(flat), return_inverse=True)[1]
    parts = np.split(places, np.cumsum([part.size for part in flat])[:-1])
    return [part.reshape(table.shape) for part, table in zip(parts, tables, strict=True)]


def kruskal_wallis(first: Places, second: Places) -> Array:
    """H of two groups, corrected for ties: N - 1 times the groups' share of the sum of squares of the ranks.

    The groups are places (`places_among`), or draws from them: what is counted by place needs no sorting. Written
    so, the correction for ties is part of the denominator. All values equal give 0.
    """
    size, count = first.shape[-1], first.shape[-1] + second.shape[-1]
    most = int(max(first.max(initial=0), second.max(initial=0))) + 1
    of_first = _counts(first, most)
    equal = of_first + _counts(second, most)
    # the mean rank of a place, less that of all; the deviations of all values add up to 0
    deviations = np.cumsum(equal, axis=1) - (equal + count) / 2
    of_ranks = np.einsum("ij,ij->i", of_first, deviations) ** 2
    between = of_ranks / size + of_ranks / (count - size)
    total = np.einsum("ij,ij,ij->i", equal, deviations, deviations)
    h = (count - 1) * between / np.where(total > 0, total, 1.0)
    return np.asarray(h.reshape(first.shape[:-1]))


def _counts(places: Places, most: int) -> Places:
    """How many values of each row have each place."""
    rows = places.reshape(-1, places.shape[-1])
    at = rows + np.arange(len(rows))[:, None] * most
    return np.bincount(at.ravel(), minlength=len(rows) * most).reshape(len(rows), most)


def p_of_h(h: float) -> float:
    """The chance of an H of two groups at least as large, where nothing differs: chi-square, one degree."""
    return math.erfc(math.sqrt(h / 2))


def h_at(p: float) -> float:
    """The H that chance exceeds with probability p."""
    from scipy.special import chdtri

    return float(chdtri(1, p))


def benjamini_hochberg(chances: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given: the smallest p m / rank over this and all larger ones, at most 1."""
    ordered = sorted(range(len(chances)), key=lambda place: -chances[place])
    results, smallest = [0.0] * len(chances), 1.0
    for step, place in enumerate(ordered):
        smallest = min(smallest, chances[place] * len(chances) / (len(chances) - step))
        results[place] = smallest
    return results
