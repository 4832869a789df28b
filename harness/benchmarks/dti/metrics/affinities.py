"""Metrics of affinities: squared error, and the order of pairs (concordance index) in n log n."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


def affinity_metrics(truth: Numbers, scores: Numbers) -> dict[str, float | str]:
    """Metrics by name, or the reason why one is undefined."""
    return {"MSE": float(np.mean((truth - scores) ** 2)), "CI": concordance(truth, scores)}


def concordance(truth: Numbers, scores: Numbers) -> float | str:
    """Of all pairs with unequal truth, the share that scores put in the same order; equal scores count one half.

    Counted level by level of a merge sort: each level joins sorted halves by one search.
    """
    ranks = np.unique(scores, return_inverse=True)[1]
    levels, kinds = np.unique(truth, return_inverse=True)
    if len(levels) < 2:
        return "all affinities are equal"
    counts = np.bincount(kinds)
    total = (len(truth) ** 2 - int((counts.astype(np.int64) ** 2).sum())) // 2
    ordered = ranks[np.argsort(kinds, kind="stable")]
    # pairs of equal truth are in one run; they are counted too, and taken off again
    good = _in_order(ordered) - sum(_in_order(run) for run in np.split(ordered, np.cumsum(counts)[:-1]))
    return float(good / total)


def _in_order(values: npt.NDArray[np.integer]) -> float:
    """How many pairs (i, j), i before j, have a smaller value first; equal ones count one half."""
    size, twice = 1, 0
    count = len(values)
    blocks = np.arange(count)
    span = int(values.max(initial=0)) + 1
    while size < count:
        # all blocks of this level are sorted at once, by a key that keeps blocks apart
        left = (blocks // size) % 2 == 0
        pair = blocks // (2 * size)
        keys = np.sort(pair[left] * span + values[left])
        queries = pair[~left] * span + values[~left]
        start = np.searchsorted(keys, pair[~left] * span)
        smaller = np.searchsorted(keys, queries, side="left") - start
        at_most = np.searchsorted(keys, queries, side="right") - start
        twice += int(smaller.sum() + at_most.sum())
        size *= 2
    return twice / 2
