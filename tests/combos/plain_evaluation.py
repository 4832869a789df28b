"""The definitions of scores and tests, written plainly: every pair of rows, every matching, one draw at a time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations

from harness.benchmarks.combos.metrics.rows import RelationRow

Rows = Sequence[RelationRow]
# credit and whether it counts, by document, list as text, and label
Credits = dict[tuple[object, str, int], tuple[float, bool]]
# labels and shares of all that a key matches
Collected = dict[tuple[object, str, int], list[tuple[int, float]]]


def share(one: RelationRow, other: RelationRow, exact: bool) -> float | None:
    """q of two rows that match, None of others."""
    if one.document != other.document:
        return None
    shared, every = set(one.spans) & set(other.spans), set(one.spans) | set(other.spans)
    q = len(shared) / len(every) if every else 1.0
    return q if q == 1 or (not exact and len(shared) >= 2) else None


def label_of(row: RelationRow, positive: bool) -> int:
    """The mapped label."""
    return int(row.label == 2) if positive else int(row.label > 0)


def as_published(gold: Rows, predicted: Rows, exact: bool, positive: bool) -> tuple[Credits, Credits]:
    """Two dictionaries of what each key collects, and its best; in the order of insertion."""
    found: tuple[Collected, Collected] = ({}, {})

    def add(side: int, row: RelationRow, other_label: int, q: float) -> None:
        key = (row.document, str(list(row.spans)), label_of(row, positive))
        found[side].setdefault(key, []).append((other_label, q))

    matched: tuple[set[int], set[int]] = (set(), set())
    for one, relation in enumerate(gold):
        for other, prediction in enumerate(predicted):
            q = share(relation, prediction, exact)
            if q is not None:
                add(0, relation, label_of(prediction, positive), q)
                add(1, prediction, label_of(relation, positive), q)
                matched[0].add(one)
                matched[1].add(other)
        if one not in matched[0]:
            add(0, relation, 0, 0.0)
    for other, prediction in enumerate(predicted):
        if other not in matched[1]:
            add(1, prediction, 0, 0.0)
    gold_side, predicted_side = (
        {key: (max((q for label, q in pairs if label), default=0.0), key[2] == 1) for key, pairs in side.items()}
        for side in found
    )
    return gold_side, predicted_side


def mean(credits: Credits) -> float | None:
    """Of what counts."""
    own = [credit for credit, counts in credits.values() if counts]
    return sum(own) / len(own) if own else None


def best_sum(gold: Rows, predicted: Rows, exact: bool, positive: bool) -> tuple[float, int, int]:
    """The highest sum of any one-to-one matching of distinct sets, and how many sets there are on both sides."""
    sides = [
        list({(row.document, frozenset(row.spans)): row for row in rows if label_of(row, positive)}.values())
        for rows in (gold, predicted)
    ]
    fewer, more = sorted(sides, key=len)
    best = max(
        sum(share(one, other, exact) or 0.0 for one, other in zip(fewer, own, strict=True))
        for own in permutations(more, len(fewer))
    )
    return best, len(sides[0]), len(sides[1])


def multi_bootstrap(
    sides: Sequence[Sequence[Sequence[Sequence[tuple[float, bool]]]]], rounds: int, seed: int
) -> list[list[list[float]]]:
    """Draws of side, bucket, seed: a seed, then an item of it."""
    generator = random.Random(seed)
    values: list[list[list[float]]] = [[[], []] for _ in sides]
    for side, own in zip(sides, values, strict=True):
        for _ in range(rounds):
            for bucket, thetas in zip(side, own, strict=True):
                drawn = []
                for _ in range(min(len(items) for items in bucket)):
                    number = generator.choice(list(range(len(bucket))))
                    drawn.append(generator.choice(list(bucket[number])))
                credits = [credit for credit, counts in drawn if counts]
                thetas.append(sum(credits) / len(credits) if credits else 0.0)
    return values
