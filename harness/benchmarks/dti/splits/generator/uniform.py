"""Negatives as the paper's text has them: all pairs of a space that are not known to bind are as likely."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Bindings, Mask
from harness.benchmarks.dti.splits.generator.folds import Halves, without
from harness.benchmarks.dti.splits.java import Integers


def uniform_negatives(bindings: Bindings, space: Mask, known: Mask, count: int, seed: int) -> Integers:
    """So many pairs of a space of drugs by targets, or all if there are fewer."""
    generator = np.random.RandomState(seed)
    free = np.flatnonzero(space.ravel() & ~known)
    if 4 * count >= len(free):
        return free[generator.permutation(len(free))[:count]]
    places = generator.randint(len(free), size=3 * count)
    return free[places[np.sort(np.unique(places, return_index=True)[1])]][:count]


def rectangle(bindings: Bindings, drugs: Integers, targets: Integers) -> Mask:
    """The pairs of some drugs and some targets."""
    return np.outer(_mask(drugs, len(bindings.drugs.hashes)), _mask(targets, bindings.targets_end))


def nested_space(halves: Halves, space: str) -> Mask:
    """A space of scenario 1: T are nodes that are asked, C those with a known binding, A all."""
    bindings = halves.bindings
    drugs = {"T": halves.test_drugs, "C": bindings.drugs_of(bindings.codes), "A": np.arange(len(bindings.drugs.hashes))}
    targets = {"T": halves.test_targets, "C": bindings.targets_of(bindings.codes)}
    targets["A"] = np.arange(bindings.targets_end)
    one, other = space
    return rectangle(bindings, drugs[one], targets[other]) | rectangle(bindings, drugs[other], targets[one])


def isolated_space(halves: Halves) -> Mask:
    """The pairs of scenario 3: neither node is learned from."""
    drugs = without(halves.test_drugs, halves.train_drugs)
    return rectangle(halves.bindings, drugs, without(halves.test_targets, halves.train_targets))


def _mask(nodes: Integers, size: int) -> Mask:
    mask = np.zeros(size, dtype=np.bool_)
    mask[nodes] = True
    return mask
