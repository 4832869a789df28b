"""Folds of a set of bindings: the bindings a task asks, and those it learns from, in the order of its files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Bindings
from harness.benchmarks.dti.splits.java import Integers, JavaRandom, shuffled


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
