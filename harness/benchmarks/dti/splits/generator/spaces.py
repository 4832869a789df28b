"""Spaces of pairs as masks of drugs by targets, and negatives of which all in a space are as likely.

This is how the paper's text has them, and how any negatives are examined: no hash table decides anything here.
"""

from __future__ import annotations

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Mask
from harness.benchmarks.dti.splits.generator.categories import Category, sides
from harness.benchmarks.dti.splits.generator.folds import Halves
from harness.benchmarks.dti.splits.java import Integers

# pairs drawn for each that is wanted, before those of a space are counted: most spaces are large
_TRIES = 64


def uniform_negatives(space: Mask, known: Mask, count: int, *seeds: int) -> Integers:
    """So many pairs of a space that are not known to bind, or all if there are fewer."""
    generator, flat = np.random.RandomState(seeds if len(seeds) > 1 else seeds[0]), space.ravel()
    drawn = generator.randint(flat.size, size=_TRIES * count)
    drawn = drawn[flat[drawn] & ~known[drawn]]
    drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    if len(drawn) >= count:
        return drawn[:count]
    # a space so small that it is rarely hit
    free = np.flatnonzero(flat & ~known)
    return free[generator.permutation(len(free))[:count]]


def neighbour_space(halves: Halves, similar: bool) -> Mask:
    """The pairs of scenario 2: a node of a binding, with learned nodes like or unlike its other one."""
    bindings = halves.bindings
    space = np.zeros((len(bindings.drugs.hashes), bindings.targets_end), dtype=np.bool_)
    binds = bindings.mask(halves.train).reshape(space.shape)
    drugs, targets = np.any(binds, axis=1), np.any(binds, axis=0)
    for drug, target in zip(bindings.drugs_of(halves.test), bindings.targets_of(halves.test), strict=True):
        if drugs[drug]:
            siblings: Mask = np.any(binds[:, binds[drug]], axis=1)
            space[siblings if similar else drugs & ~siblings, target] = True
        elif targets[target]:
            siblings = np.any(binds[binds[:, target]], axis=0)
            space[drug, siblings if similar else targets & ~siblings] = True
    return space


def connected_space(halves: Halves, space: str, nested: bool) -> Mask:
    """A space of scenario 1: T is asked nodes, C others with a binding, A the rest; nested, each in the next."""
    bindings = halves.bindings
    kinds = []
    ends = len(bindings.drugs.hashes), bindings.targets_end
    for end, asked, bound in zip(ends, halves.asked, bindings.ends(bindings.codes), strict=True):
        rank = np.full(end, 2)
        rank[bound], rank[asked] = 1, 0
        kinds.append({name: rank <= place if nested else rank == place for place, name in enumerate("TCA")})
    (drugs, targets), one, other = kinds, space[0], space[1]
    return (drugs[one][:, None] & targets[other]) | (drugs[other][:, None] & targets[one])


def category_space(halves: Halves, space: str, category: Category) -> Mask:
    """The pairs of a category's space; of members that nobody knows only those that lead."""
    drugs, targets = sides(halves, space, category)
    if category.of_drugs and space.endswith("O"):
        drugs = np.concatenate([drugs, category.leading])
    return rectangle(halves, drugs, targets)


def rectangle(halves: Halves, drugs: Integers, targets: Integers) -> Mask:
    """All pairs of these drugs and targets."""
    mask = np.zeros((len(halves.bindings.drugs.hashes), halves.bindings.targets_end), dtype=np.bool_)
    mask[drugs[:, None], targets] = True
    return mask
