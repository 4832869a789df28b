"""Spaces of pairs as masks of drugs by targets, and negatives of which all in a space are as likely.

This is how the paper's text has them, and how any negatives are examined: no hash table decides anything here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Mask
from harness.benchmarks.dti.splits.generator.categories import Category, sides
from harness.benchmarks.dti.splits.generator.folds import Halves, without
from harness.benchmarks.dti.splits.java import Integers

# pairs drawn for each that is wanted, before those of a space are counted: most spaces are large
_TRIES = 64


def uniform_negatives(space: Mask, known: Mask, count: int, seed: int) -> Integers:
    """So many pairs of a space that are not known to bind, or all if there are fewer."""
    generator, flat = np.random.RandomState(seed), space.ravel()
    drawn = generator.randint(flat.size, size=_TRIES * count)
    drawn = drawn[flat[drawn] & ~known[drawn]]
    drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    if len(drawn) >= count:
        return drawn[:count]
    # a space so small that it is rarely hit
    free = np.flatnonzero(flat & ~known)
    return free[generator.permutation(len(free))[:count]]


def neighbour_negatives(halves: Halves, similar: bool, seed: int) -> Integers:
    """For every binding that is asked a pair of its own space, all as likely; none if it has none left."""
    generator = np.random.RandomState(seed)
    taken = halves.bindings.known.copy()
    drawn = []
    for codes in _neighbour_spaces(halves, similar):
        free = codes[~taken[codes]]
        if len(free):
            drawn.append(free[generator.randint(len(free))])
            taken[drawn[-1]] = True
    return np.array(drawn, dtype=np.int64)


def neighbour_space(halves: Halves, similar: bool) -> Mask:
    """The pairs of scenario 2: a node that is isolated, with nodes like or unlike the one that it binds."""
    return halves.bindings.mask(*_neighbour_spaces(halves, similar))


def _neighbour_spaces(halves: Halves, similar: bool) -> Iterator[Integers]:
    """For every binding that is asked the pairs that may stand against it."""
    bindings = halves.bindings
    binds = bindings.mask(halves.train).reshape(-1, bindings.targets_end)
    drugs = np.isin(np.arange(len(binds)), halves.train_drugs)
    targets = np.isin(np.arange(binds.shape[1]), halves.train_targets)
    for drug, target in zip(bindings.drugs_of(halves.test), bindings.targets_of(halves.test), strict=True):
        if drugs[drug]:
            siblings: Mask = np.any(binds[:, binds[drug]], axis=1)
            others = np.flatnonzero(siblings if similar else drugs & ~siblings)
            yield bindings.code(others, target)
        elif targets[target]:
            siblings = np.any(binds[binds[:, target]], axis=0)
            yield bindings.code(drug, np.flatnonzero(siblings if similar else targets & ~siblings))


def connected_space(halves: Halves, space: str, nested: bool) -> Mask:
    """A space of scenario 1: T are nodes that are asked, C others with a binding, A all others.

    Nested, each holds those before it.
    """
    bindings = halves.bindings
    kinds = []
    for end, asked, bound in (
        (len(bindings.drugs.hashes), halves.test_drugs, bindings.drugs_of(bindings.codes)),
        (bindings.targets_end, halves.test_targets, bindings.targets_of(bindings.codes)),
    ):
        rank = np.full(end, 2)
        rank[bound], rank[asked] = 1, 0
        kinds.append({name: rank <= place if nested else rank == place for place, name in enumerate("TCA")})
    (drugs, targets), one, other = kinds, space[0], space[1]
    return (drugs[one][:, None] & targets[other]) | (drugs[other][:, None] & targets[one])


def isolated_space(halves: Halves) -> Mask:
    """The pairs of scenario 3: neither node is learned from."""
    drugs = without(halves.test_drugs, halves.train_drugs)
    return _rectangle(halves, drugs, without(halves.test_targets, halves.train_targets))


def category_space(halves: Halves, space: str, category: Category) -> Mask:
    """The pairs of a category's space; of members that nobody knows only those that lead."""
    drugs, targets = sides(halves, space, category)
    if category.of_drugs and space.endswith("O"):
        drugs = np.concatenate([drugs, category.leading])
    return _rectangle(halves, drugs, targets)


def _rectangle(halves: Halves, drugs: Integers, targets: Integers) -> Mask:
    mask = np.zeros((len(halves.bindings.drugs.hashes), halves.bindings.targets_end), dtype=np.bool_)
    mask[drugs[:, None], targets] = True
    return mask
