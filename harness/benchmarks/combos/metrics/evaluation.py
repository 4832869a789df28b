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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from harness.benchmarks.combos.metrics.rows import OTHER, POSITIVE, DocumentId, RelationRow

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
_Sets = dict[tuple[DocumentId, frozenset[int]], int]


class MatchRule(NamedTuple):
    """What a match is, and which relations are looked at."""

    exact: bool
    positive: bool

    def counted(self, rows: Sequence[RelationRow]) -> Mask:
        """Whether each row is such a relation."""
        least = POSITIVE if self.positive else OTHER
        return np.array([row.label >= least for row in rows], dtype=np.bool_)


class Overlaps(NamedTuple):
    """Pairs of a relation and a prediction that match partially, relation by relation, and what they share."""

    gold: Places
    predicted: Places
    shares: Numbers


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


def overlaps_of(gold: Sequence[RelationRow], predicted: Sequence[RelationRow]) -> Overlaps:
    """Every pair of one document that matches at least partially."""
    by_document: dict[DocumentId, list[tuple[int, frozenset[int]]]] = {}
    for place, row in enumerate(predicted):
        by_document.setdefault(row.document, []).append((place, frozenset(row.spans)))
    pairs = [
        (place, other, share)
        for place, row in enumerate(gold)
        for spans in [frozenset(row.spans)]
        for other, others in by_document.get(row.document, ())
        if (share := _share(spans, others))
    ]
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 3).T
    return Overlaps(columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2])


def as_published(
    gold: Sequence[RelationRow],
    predicted: Sequence[RelationRow],
    rule: MatchRule,
    overlaps: Overlaps | None = None,
) -> CreditPair:
    """The best match of each list; `overlaps` are those of the rows, where they are known."""
    overlaps = overlaps or overlaps_of(gold, predicted)
    matches = overlaps.shares >= (1.0 if rule.exact else 0.0)
    one, other, shares = overlaps.gold[matches], overlaps.predicted[matches], overlaps.shares[matches]
    is_relation, is_predicted = rule.counted(gold), rule.counted(predicted)
    # predictions stand where a relation meets them first, those that none meets behind all others
    meets = np.full(len(predicted), len(gold))
    np.minimum.at(meets, other, one)
    return CreditPair(
        _items(gold, is_relation, np.arange(len(gold)), one, shares * is_predicted[other]),
        _items(predicted, is_predicted, np.argsort(meets, kind="stable"), other, shares * is_relation[one]),
    )


def _items(
    rows: Sequence[RelationRow], counted: Mask, order: Places, matched: Places, credits: Numbers
) -> ItemCredits:
    """Rows of one document with the same list, both counted or both not, are one item with the best credit."""
    keys = [(row.document, row.spans, count) for row, count in zip(rows, counted.tolist(), strict=True)]
    first: dict[tuple[DocumentId, tuple[int, ...], bool], int] = {}
    for place in order.tolist():
        first.setdefault(keys[place], place)
    best = np.zeros(len(rows))
    np.maximum.at(best, np.array([first[key] for key in keys], dtype=np.int64)[matched], credits)
    items = np.array([*first.values()], dtype=np.int64)
    return ItemCredits(items, counted[items], best[items])


def as_defined(gold: Sequence[RelationRow], predicted: Sequence[RelationRow], rule: MatchRule) -> CreditPair:
    """The matching of sets, one to one, that has the highest sum."""
    relations, predictions = _sets(gold, rule), _sets(predicted, rule)
    by_document: dict[DocumentId, list[frozenset[int]]] = {}
    # where several matchings are best, which one is taken does not depend on the order of rows
    for document, spans in sorted(predictions, key=lambda key: sorted(key[1])):
        by_document.setdefault(document, []).append(spans)
    asked: dict[DocumentId, list[frozenset[int]]] = {}
    for document, spans in sorted(relations, key=lambda key: sorted(key[1])):
        if document in by_document:
            asked.setdefault(document, []).append(spans)
    credits = np.zeros(len(gold)), np.zeros(len(predicted))
    for document, ours in asked.items():
        theirs = by_document[document]
        shares = np.array([[_share(one, other, rule.exact) for other in theirs] for one in ours])
        for one, other in zip(*linear_sum_assignment(shares, maximize=True), strict=True):
            credits[0][relations[document, ours[one]]] = shares[one, other]
            credits[1][predictions[document, theirs[other]]] = shares[one, other]
    return CreditPair(*(_of_sets(*side) for side in zip((relations, predictions), credits, strict=True)))


def _sets(rows: Sequence[RelationRow], rule: MatchRule) -> _Sets:
    """The first row of each set that counts."""
    sets: _Sets = {}
    for place in np.flatnonzero(rule.counted(rows)).tolist():
        sets.setdefault((rows[place].document, frozenset(rows[place].spans)), place)
    return sets


def _of_sets(sets: _Sets, credits: Numbers) -> ItemCredits:
    rows = np.array([*sets.values()], dtype=np.int64)
    return ItemCredits(rows, np.ones(len(rows), dtype=np.bool_), credits[rows])


def _share(one: frozenset[int], other: frozenset[int], exact: bool = False) -> float:
    """What two sets share, 0 if they do not match."""
    if one == other:
        return 1.0
    shared = len(one & other)
    return 0.0 if exact or shared < 2 else shared / (len(one) + len(other) - shared)
