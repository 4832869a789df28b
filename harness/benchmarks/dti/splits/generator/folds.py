"""Tasks: bindings that are asked and learned from, in the order of their files, negatives, and their promises."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.bindings import area_under_roc, threshold_counts
from harness.benchmarks.dti.splits.generator.bindings import Bindings, Ends, Mask, bindings_of, without
from harness.benchmarks.dti.splits.java import Integers, JavaRandom, shuffled
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, TEST, TRAIN, PairSplit, pair_split


@dataclass(frozen=True, eq=False)
class Halves:
    """Bindings to learn from and bindings to ask, and the sets of their nodes, all as they are iterated."""

    bindings: Bindings
    train: Integers
    test: Integers

    @cached_property
    def learned(self) -> Ends:
        """Drugs and targets that are learned from."""
        return self.bindings.ends(self.train)

    @cached_property
    def asked(self) -> Ends:
        """Drugs and targets of bindings that are asked."""
        return self.bindings.ends(self.test)

    @property
    def only_learned(self) -> Ends:
        """Drugs and targets that are learned from and not asked."""
        return self.learned.without(self.asked)

    @property
    def only_asked(self) -> Ends:
        """Drugs and targets that are asked and not learned from."""
        return self.asked.without(self.learned)


def fold_of(bindings: Bindings, chosen: Integers, fold: int, folds: int, seed: int) -> Halves:
    """A fold of the chosen bindings, which are in the order in which they were added to their set."""
    blocks = np.array_split(shuffled(bindings.lines(chosen), JavaRandom(seed)), folds)
    asked, rest = blocks.pop(fold), bindings.lines(without(bindings.codes, chosen))
    return Halves(bindings, bindings.lines(*blocks, rest), bindings.lines(asked))


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


def wrong_bindings(halves: Halves, chosen: Mask, number: int, *new: Integers) -> list[str]:
    """All bindings, with new ones if a task has such, are there once, so many are asked, and only chosen ones."""
    broken, codes = [], np.concatenate([halves.train, halves.test])
    if not np.array_equal(np.sort(codes), np.sort(np.concatenate([halves.bindings.codes, *new]))):
        broken.append("the bindings of both parts are not all bindings, each once")
    if len(halves.test) != number:
        broken.append(f"{len(halves.test)} bindings are asked, not {number}")
    if outside := int((~chosen[halves.test]).sum()):
        broken.append(f"{outside} bindings are asked that the task is not about")
    return broken


def wrong_negatives(halves: Halves, negatives: Integers, space: Mask, number: int) -> list[str]:
    """Negatives are of their space, none is a binding, and there are as many as bindings if the space has them."""
    free = space.ravel() & ~halves.bindings.known
    free[halves.test] = False
    broken, number = [], min(number, int(np.count_nonzero(free)))
    if outside := int((~free[negatives]).sum()):
        broken.append(f"{outside} negatives are bindings, or outside the space")
    if len(negatives) != number:
        broken.append(f"there are {len(negatives)} negatives, not {number}")
    return broken


def fold_size(total: int, fold: int, folds: int) -> int:
    """How many of all are in a fold: the first ones are larger by one where it does not come out even."""
    return total // folds + (fold < total % folds)


def occurrence_auroc(halves: Halves, negatives: Integers) -> float:
    """The AUROC of ranking pairs by how rarely their drug occurs in the test file; at 0.5 it tells nothing."""
    drugs = halves.bindings.drugs_of(np.concatenate([halves.test, negatives]))
    binds, rarity = np.arange(len(drugs)) < len(halves.test), -np.bincount(drugs)[drugs].astype(np.float64)
    return area_under_roc(threshold_counts(binds, rarity)) if len(negatives) else 0.5
