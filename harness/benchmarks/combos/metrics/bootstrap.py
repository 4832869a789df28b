"""Whether two systems, or two buckets of one, differ: the paper's multi-bootstrap, and a paired one.

As published (Figures 4 and 5), a round draws items of bucket A with replacement, as many as the seed with the
fewest has: first a seed, then one of its items. Then the same for B, whose items are others. So nothing is paired,
and the relations of a document are drawn apart.

Paired, a round draws documents and seeds with replacement, and both sides are evaluated on the same ones. That is
what the paper says: "sampling hierarchically over the available model seeds and subsets of the test set".
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.benchmarks.combos.metrics.evaluation import ItemCredits

Numbers = npt.NDArray[np.float64]
# a side of the published test: two buckets, each with the items of every seed
BucketPair = tuple[Sequence[ItemCredits], Sequence[ItemCredits]]

ROUNDS, SEED = 1000, 2021
CONFIDENCE = 0.95
MEASURES = ("recall", "precision", "F1")


@dataclass(frozen=True)
class BucketDraws:
    """The values of both buckets in every round."""

    first: Numbers
    second: Numbers

    @property
    def better(self) -> int:
        """In how many rounds the second is better; the paper's p is 1 minus their share, or their share."""
        return int((self.second > self.first).sum())


def multi_bootstrap(
    sides: Sequence[BucketPair], rounds: int = ROUNDS, seed: int = SEED, *, relations_only: bool = False
) -> list[BucketDraws]:
    """The published draws of each side, one side after the other from one generator.

    The paper's sides are relations, then predictions; what it prints as precision is the first. Items that do not
    count are drawn like others unless `relations_only`. Where nothing that was drawn counts the original divides
    by zero; the value here is 0.
    """
    # numpy's generator can't be faster here: how many numbers a draw takes is known when it is over
    choice = random.Random(seed).choice
    draws = []
    for side in sides:
        values: tuple[list[float], list[float]] = ([], [])
        buckets = [[_items(items, relations_only) for items in bucket] for bucket in side]
        for _ in range(rounds):
            for bucket, own in zip(buckets, values, strict=True):
                seeds, total, count = range(len(bucket)), 0.0, 0
                for _ in range(min(map(len, bucket))):
                    credit = choice(bucket[choice(seeds)])
                    if credit is not None:
                        total += credit
                        count += 1
                own.append(total / count if count else 0.0)
        draws.append(BucketDraws(*(np.array(own) for own in values)))
    return draws


def _items(items: ItemCredits, relations_only: bool) -> list[float | None]:
    """The credit of each item, None where it does not count."""
    pairs = zip(items.credits.tolist(), items.counted.tolist(), strict=True)
    return [credit if counted else None for credit, counted in pairs if counted or not relations_only]


class PairedDifference(NamedTuple):
    """The second side minus the first, its interval, and the chance of one at least as far from 0."""

    difference: float
    low: float
    high: float
    p: float
    # rounds in which both sides were defined
    rounds: int


def paired_bootstrap(
    first: Sequence[Numbers], second: Sequence[Numbers], rounds: int = ROUNDS, seed: int = SEED
) -> dict[str, PairedDifference]:
    """The difference in each measure that is defined on all documents.

    A side has an array for each seed: rows are the credits and the number of relations, then those of predictions;
    columns are documents. Documents and seeds stand at the same places on both sides.
    """
    sides = np.stack([np.stack(first), np.stack(second)]).astype(np.float64)
    _, seeds, _, documents = sides.shape
    generator = np.random.default_rng(seed)
    # how often each is drawn; the first column is all of them once
    drawn = [
        np.column_stack([np.ones(count), generator.multinomial(count, np.full(count, 1 / count), rounds).T])
        for count in (documents, seeds)
    ]
    sums = sides @ drawn[0]
    with np.errstate(invalid="ignore"):
        recall, precision = sums[:, :, 0] / sums[:, :, 1], sums[:, :, 2] / sums[:, :, 3]
        f1 = np.where(recall + precision == 0, 0.0, 2 * recall * precision / (recall + precision))
    differences = {}
    for measure, values in zip(MEASURES, (recall, precision, f1), strict=True):
        # a seed that is not drawn need not be defined
        means = (np.where(drawn[1] > 0, values, 0.0) * drawn[1]).sum(axis=1) / seeds
        # equal values are equal, in whatever order they were added
        observed, *sample = (means[1] - means[0]).round(12).tolist()
        apart = np.array(sample)[np.isfinite(sample)]
        if not np.isfinite(observed) or not len(apart):
            continue
        low, high = np.quantile(apart, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
        # the observed sample is one of them, so that p is never 0
        tail = 1 + min(int((apart <= 0).sum()), int((apart >= 0).sum()))
        p = min(1.0, 2 * tail / (len(apart) + 1))
        differences[measure] = PairedDifference(observed, low, high, p, len(apart))
    return differences
