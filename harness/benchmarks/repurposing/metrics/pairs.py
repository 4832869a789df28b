"""Scored pairs of one set (the test pairs, or those an inner model did not see), arranged for counting.

All metrics are counts over rows or columns of one dense matrix, so that none needs a loop over drugs or diseases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int8]
Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# comparisons held in memory at once
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Pairs:
    """Drugs x diseases; `inside` marks the pairs of the set, labels and scores come in row-major order."""

    inside: Flags
    labels: Labels
    scores: Scores

    @cached_property
    def transposed(self) -> Pairs:
        """The same pairs with diseases in rows."""
        flipped = np.ascontiguousarray(self.inside.T)
        number = np.empty(self.inside.shape, dtype=np.int32)
        number[self.inside] = np.arange(len(self.labels), dtype=np.int32)
        order = number.T[flipped]
        return Pairs(flipped, self.labels[order], self.scores[order])

    @cached_property
    def entities(self) -> Integers:
        """The row of every pair."""
        return np.repeat(np.arange(len(self.inside)), self.sizes)

    @cached_property
    def sizes(self) -> Integers:
        """How many pairs each row has."""
        return np.asarray(np.count_nonzero(self.inside, axis=1))

    @cached_property
    def positives(self) -> Integers:
        """How many pairs with label +1 each row has."""
        return self.per_row(self.labels == 1)

    @cached_property
    def negatives(self) -> Integers:
        """How many pairs with label -1 each row has."""
        return self.per_row(self.labels == -1)

    @cached_property
    def mixed(self) -> Flags:
        """The published rule for rows that count: exactly two kinds of labels, +1 among them."""
        unknown = self.sizes - self.positives - self.negatives
        return (self.positives > 0) & ((self.negatives > 0) ^ (unknown > 0))

    def per_row(self, chosen: Flags) -> Integers:
        """How many of the chosen pairs each row has."""
        return np.bincount(self.entities[chosen], minlength=len(self.inside))

    def sum_per_row(self, chosen: Flags, values: Scores | Integers) -> Scores:
        """The sum, row by row, of one value for each of the chosen pairs."""
        weights: Scores = values.astype(np.float64)
        return np.bincount(self.entities[chosen], weights, len(self.inside)).astype(np.float64, copy=False)

    def with_scores(self, scores: Scores) -> Pairs:
        """The same pairs with other scores."""
        return Pairs(self.inside, self.labels, scores)

    def outranked(self, chosen: Flags, others: Flags) -> tuple[Integers, Integers]:
        """For each chosen pair: how many of the others in its row have a smaller, and how many the same score."""
        starts = np.cumsum(self.sizes) - self.sizes
        rows, scores = self.entities[chosen], self.scores[chosen]
        rivals = np.where(others, self.scores, np.nan)
        smaller, equal = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
        step = max(1, _AT_ONCE // max(1, int(self.sizes.max(initial=1))))
        for begin in range(0, len(rows), step):
            part = slice(begin, begin + step)
            lengths = self.sizes[rows[part]]
            ends = np.cumsum(lengths)
            rival = rivals[np.arange(ends[-1]) + np.repeat(starts[rows[part]] - (ends - lengths), lengths)]
            own = np.repeat(scores[part], lengths)
            smaller[part] = _sums(rival < own, ends)
            equal[part] = _sums(rival == own, ends)
        return smaller, equal


def _sums(flags: Flags, ends: Integers) -> Integers:
    """How many flags are set in each of the consecutive runs that end there."""
    return np.diff(np.concatenate([[0], np.cumsum(flags)[ends - 1]]))


def global_area(labels: Labels, scores: Scores, outside: int = 0) -> float | None:
    """Area under the ROC curve, positives against all others; `outside` more others have score 0."""
    positive = labels == 1
    ours, others = scores[positive], np.sort(scores[~positive])
    pairs = len(ours) * (len(others) + outside)
    if not pairs:
        return None
    smaller = int(np.searchsorted(others, ours, side="left").sum())
    not_larger = int(np.searchsorted(others, ours, side="right").sum())
    doubled = smaller + not_larger + outside * (2 * int((ours > 0).sum()) + int((ours == 0).sum()))
    return doubled / (2 * pairs)
