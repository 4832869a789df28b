"""A task of the generator as a split: the rows of its training file, then those of its test file."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.generator.bindings import bindings_of
from harness.benchmarks.dti.splits.generator.folds import Halves
from harness.benchmarks.dti.splits.java import Integers
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, TEST, TRAIN, PairSplit, pair_split


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
