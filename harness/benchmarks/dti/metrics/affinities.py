"""Metrics of affinities: squared error, and the order of pairs (concordance index).

Of n pairs with l different affinities or scores, whichever are fewer, the order costs one sort and log2(l) passes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]


def affinity_metrics(truth: Numbers, scores: Numbers) -> dict[str, float | str]:
    """Metrics by name, or the reason why one is undefined."""
    with np.errstate(over="ignore"):
        error = float(np.mean((truth - scores) ** 2))
    return {
        "MSE": error if np.isfinite(error) else "an error is too large to be squared",
        "CI": concordance(truth, scores),
    }


def concordance(truth: Numbers, scores: Numbers) -> float | str:
    """Of all pairs of unequal truth, the share that scores put in the same order; equal scores count one half."""
    (first, first_ties), (second, second_ties) = _ranks(truth), _ranks(scores)
    total = len(truth) * (len(truth) - 1) // 2 - first_ties
    if not total:
        return "all affinities are equal"
    # what is counted is the same for both, so that the one with fewer values is taken apart
    if second.max() > first.max():
        first, second = second, first
    # where the first are equal the second fall: no pair of these is counted
    span = int(second.max()) + 1
    keys = np.sort(first * span + (span - 1 - second))
    runs = np.diff(np.flatnonzero(np.diff(keys, prepend=-1)), append=len(keys))
    return float((_rising(span - 1 - keys % span) + (second_ties - _pairs_in(runs)) / 2) / total)


def _ranks(numbers: Numbers) -> tuple[Ranks, int]:
    """The rank of each number, and how many pairs are equal."""
    _, ranks, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return ranks, _pairs_in(counts)


def _pairs_in(counts: Ranks) -> int:
    return int((counts * (counts - 1) // 2).sum())


def _rising(ranks: Ranks) -> int:
    """How many pairs (i, j), i before j, have a smaller rank first.

    Bit by bit from the highest: ranks that agree so far stand together, in their order, and a pair is counted
    where the first has 0 and the second 1. Zeros then come before ones.
    """
    bits = int(ranks.max()).bit_length()
    # where the ranks from this one on begin, once they are sorted
    begins = np.concatenate([[0], np.cumsum(np.bincount(ranks, minlength=1 << bits))]).astype(np.int32)
    ranks = ranks.astype(np.int32)
    places = np.arange(len(ranks), dtype=np.int32)
    total = 0
    for bit in range(bits - 1, -1, -1):
        is_one = (ranks >> bit & 1).astype(np.bool_)
        zeros = np.cumsum(~is_one, dtype=np.int32)
        begin = begins[ranks >> bit + 1 << bit + 1]
        # zeros of the own group up to here
        zeros -= np.where(begin > 0, zeros[begin - 1], 0)
        total += int(zeros[is_one].sum(dtype=np.int64))
        # ones go behind all zeros of their group, in their order
        moved = np.where(is_one, begins[ranks >> bit << bit] + (places - begin - zeros), begin + zeros - 1)
        ranks[moved] = ranks.copy()
    return total
