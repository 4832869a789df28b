"""Tasks: the bindings that are asked, those that are learned from, in the order of their files, and negatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.generator.bindings import Bindings, bindings_of
from harness.benchmarks.dti.splits.java import Integers, JavaRandom, shuffled
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, TEST, TRAIN, PairSplit, pair_split


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


def split_of(halves: Halves, negatives: Integers) -> PairSplit:
    """The split of a task: bindings to learn from, bindings to ask, negatives."""
    bindings = halves.bindings
    order = np.argsort(bindings.codes)
    parts = []
    for codes, part, other in ((halves.train, TRAIN, NEW), (halves.test, TEST, NEW), (negatives, TEST, NEGATIVE)):
        items = order[np.searchsorted(bindings.codes, codes, sorter=order) % len(order)]
        items[bindings.codes[items] != codes] = other
        parts.append([np.full(len(codes), part), bindings.drugs_of(codes), bindings.targets_of(codes), items])
    return pair_split(np.concatenate([np.column_stack(columns) for columns in parts]))


def parts_of(dataset: DtiDataset, split: PairSplit) -> tuple[Halves, Integers]:
    """The parts of a task again, from a split of any origin."""
    bindings = bindings_of(dataset)
    codes, items = bindings.code(split.rows[:, 1], split.rows[:, 2]), split.rows[:, 3]
    asked = codes[~split.is_train & (items != NEGATIVE)]
    return Halves(bindings, codes[split.is_train], asked), codes[items == NEGATIVE]
