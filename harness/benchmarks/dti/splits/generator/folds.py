"""Folds of a set of bindings: the bindings a task asks, and those it learns from, in the order of its files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Bindings
from harness.benchmarks.dti.splits.java import (
    Integers,
    JavaRandom,
    buckets_of,
    first_of_shuffled,
    shuffled,
    table_of,
)


@dataclass(frozen=True, eq=False)
class Halves:
    """Bindings to learn from and bindings to ask, and the sets of their nodes, all as they are iterated."""

    bindings: Bindings
    train: Integers
    test: Integers

    @cached_property
    def train_drugs(self) -> Integers:
        """Drugs that are learned from."""
        return self.bindings.drugs.set(self.bindings.drugs_of(self.train))

    @cached_property
    def train_targets(self) -> Integers:
        """Targets that are learned from."""
        return self.bindings.targets.set(self.bindings.targets_of(self.train))

    @cached_property
    def test_drugs(self) -> Integers:
        """Drugs of bindings that are asked."""
        return self.bindings.drugs.set(self.bindings.drugs_of(self.test))

    @cached_property
    def test_targets(self) -> Integers:
        """Targets of bindings that are asked."""
        return self.bindings.targets.set(self.bindings.targets_of(self.test))

    @property
    def only_train_drugs(self) -> Integers:
        """Drugs that are learned from and not asked."""
        return without(self.train_drugs, self.test_drugs)

    @property
    def only_train_targets(self) -> Integers:
        """Targets that are learned from and not asked."""
        return without(self.train_targets, self.test_targets)


def without(items: Integers, others: Integers) -> Integers:
    """A set after the others were deleted from it: its table stays as it is."""
    return items[~np.isin(items, others)]


def fold_of(bindings: Bindings, chosen: Integers, fold: int, folds: int, seed: int) -> Halves:
    """A fold of the chosen bindings, which are in the order in which they were added to their set."""
    order = shuffled(bindings.lines(chosen), JavaRandom(seed))
    sizes = [len(order) // folds + (number < len(order) % folds) for number in range(folds)]
    start = sum(sizes[:fold])
    stop = start + sizes[fold]
    rest = bindings.lines(without(bindings.codes, chosen))
    return Halves(bindings, bindings.lines(order[:start], order[stop:], rest), bindings.lines(order[start:stop]))


def order_of_folds(bindings: Bindings, tests: list[Integers], seed: int) -> Integers:
    """The bindings of all folds in an order that gives these folds again, though how they were added is not known.

    Tables leave open only the order in a bucket. The shuffle tells of which fold each place of the list is, so a
    binding takes, of the places of its bucket that are of its fold, the next in the order of its fold's file.
    """
    codes = np.concatenate(tests)
    fold = np.repeat(np.arange(len(tests)), [len(test) for test in tests])
    buckets = buckets_of(bindings.line_hashes(codes), table_of(len(codes)))
    # every place of the list: the bucket it is in, and where the shuffle moves it
    place_buckets = np.sort(buckets)
    moved = np.argsort(first_of_shuffled(len(codes), len(codes), JavaRandom(seed)), kind="stable")
    places = np.lexsort([moved, place_buckets])
    order = np.empty(len(codes), dtype=np.int64)
    order[places] = codes[np.lexsort([np.arange(len(codes)), fold, buckets])]
    return order
