"""What each relation and each prediction is worth: exactly or partially, of any relations or of positive ones.

A relation g and a prediction t of one document share q = |g & t| / |g | t|. They match if they are the same
set, or, where partial matches count, if they have two drugs in common. Recall is the mean credit of relations,
precision that of predictions.

As published, the credit of a list of drugs is its best match on the other side. So several predictions take
credit for one relation, and a list in another order is one more item.

As defined, lists are sets, and each is matched at most once: of all one-to-one matchings of a document the one
with the highest sum of q. Then a relation that is found twice is found once, credit of relations is credit of
predictions, and neither repeating rows nor their order changes a score.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from harness.benchmarks.combos.metrics.rows import OTHER, POSITIVE, DocumentId, RelationRow

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]


class MatchRule(NamedTuple):
    """What a match is, and which relations are looked at."""

    exact: bool
    positive: bool


@dataclass(frozen=True)
class ItemCredits:
    """The relations or predictions that are told apart, in the order in which the published code draws them."""

    # the first row of each
    rows: Places
    # whether it is such a relation; what is not counts in no mean
    counted: Mask
    credits: Numbers

    def __getitem__(self, which: Mask) -> ItemCredits:
        """Some of them."""
        return ItemCredits(self.rows[which], self.counted[which], self.credits[which])

    @property
    def mean(self) -> float | None:
        """Recall of relations, precision of predictions; None where nothing counts."""
        credits = self.credits[self.counted].tolist()
        return math.fsum(credits) / len(credits) if credits else None


class CreditPair(NamedTuple):
    """Both sides of an evaluation."""

    gold: ItemCredits
    predicted: ItemCredits


class _Side:
    """The rows of one side, and numbers for their lists and for their sets."""

    def __init__(self, rows: Sequence[RelationRow]) -> None:
        self.rows = rows
        self.sets = [frozenset(row.spans) for row in rows]
        self.labels = np.array([row.label for row in rows], dtype=np.int64)
        self.list_numbers = _numbers([(row.document, row.spans) for row in rows])
        self.set_numbers = _numbers([(row.document, own) for row, own in zip(rows, self.sets, strict=True)])

    def counted(self, rule: MatchRule) -> Mask:
        """Whether each row is a relation that the rule looks at."""
        return self.labels >= (POSITIVE if rule.positive else OTHER)

    def lists(self, counted: Mask, order: Places, matched: Places, credits: Numbers) -> ItemCredits:
        """Rows of one list, both counted or both not, are one item with the best credit."""
        keys = 2 * self.list_numbers + counted
        best = np.zeros(2 * len(keys))
        np.maximum.at(best, keys[matched], credits)
        rows = order[np.sort(np.unique(keys[order], return_index=True)[1])]
        return ItemCredits(rows, counted[rows], best[keys[rows]])

    def first_rows(self, counted: Mask) -> Places:
        """For each set the first of its rows that counts."""
        first = np.full(len(counted), len(counted))
        places = np.flatnonzero(counted)
        np.minimum.at(first, self.set_numbers[places], places)
        return first


class Evaluator:
    """Relations and predictions, and what matches at least partially."""

    def __init__(self, gold: Sequence[RelationRow], predicted: Sequence[RelationRow]) -> None:
        self._gold, self._predicted = _Side(gold), _Side(predicted)
        by_document: dict[DocumentId, list[int]] = {}
        for place, row in enumerate(predicted):
            by_document.setdefault(row.document, []).append(place)
        pairs = [
            (place, other, share)
            for place, row in enumerate(gold)
            for other in by_document.get(row.document, ())
            if (share := _share(self._gold.sets[place], self._predicted.sets[other]))
        ]
        columns = np.array(pairs, dtype=np.float64).reshape(-1, 3).T
        self._pairs = columns[:2].astype(np.int64)
        self._shares: Numbers = columns[2]

    def as_published(self, rule: MatchRule) -> CreditPair:
        """The best match of each list."""
        counted = self._gold.counted(rule), self._predicted.counted(rule)
        matches = self._shares >= (1.0 if rule.exact else 0.0)
        (one, other), shares = self._pairs[:, matches], self._shares[matches]
        # predictions stand where a relation meets them first, those that none meets behind all others
        meets = np.full(len(counted[1]), len(counted[0]))
        np.minimum.at(meets, other, one)
        orders = np.arange(len(counted[0])), np.argsort(meets, kind="stable")
        return CreditPair(
            self._gold.lists(counted[0], orders[0], one, shares * counted[1][other]),
            self._predicted.lists(counted[1], orders[1], other, shares * counted[0][one]),
        )

    def as_defined(self, rule: MatchRule) -> CreditPair:
        """The matching of sets, one to one, that has the highest sum."""
        sides = self._gold, self._predicted
        counted = [side.counted(rule) for side in sides]
        first = [side.first_rows(own) for side, own in zip(sides, counted, strict=True)]
        matches = counted[0][self._pairs[0]] & counted[1][self._pairs[1]]
        matches &= self._shares >= (1.0 if rule.exact else 0.0)
        # a pair of sets once, by the first rows of both
        rows = [
            own[side.set_numbers[pairs[matches]]].tolist()
            for side, own, pairs in zip(sides, first, self._pairs, strict=True)
        ]
        by_document: dict[DocumentId, dict[tuple[int, int], float]] = {}
        for one, other, share in zip(*rows, self._shares[matches].tolist(), strict=True):
            by_document.setdefault(self._gold.rows[one].document, {})[one, other] = share
        credits = [np.zeros(len(own)) for own in counted]
        for shares in by_document.values():
            for one, other in self._matching(shares):
                credits[0][one] = credits[1][other] = shares.get((one, other), 0.0)
        items = [np.sort(own[own < len(own)]) for own in first]
        return CreditPair(
            *(ItemCredits(own, of[own], best[own]) for own, of, best in zip(items, counted, credits, strict=True))
        )

    def _matching(self, shares: Mapping[tuple[int, int], float]) -> Iterator[tuple[int, int]]:
        """Pairs of a relation and a prediction of one document, whose shares sum up to the most.

        Where several matchings are best, the one that is taken does not depend on the order of rows.
        """
        ones = sorted({one for one, _ in shares}, key=lambda row: sorted(self._gold.sets[row]))
        others = sorted({other for _, other in shares}, key=lambda row: sorted(self._predicted.sets[row]))
        table = np.array([[shares.get((one, other), 0.0) for other in others] for one in ones])
        for row, column in zip(*linear_sum_assignment(table, maximize=True), strict=True):
            yield ones[row], others[column]


def _numbers(keys: Sequence[Hashable]) -> Places:
    """Equal keys have one number."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    """What two sets share, 0 if they do not match."""
    shared = len(one & other)
    if shared < 2 and one != other:
        return 0.0
    return shared / (len(one) + len(other) - shared) if shared else 1.0
