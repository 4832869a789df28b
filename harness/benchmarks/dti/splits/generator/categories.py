"""The negatives of Tests 2, 3, 5 and 6: of nodes inside or outside a category, asked or not.

The original code takes the first drug with all its targets, then the next, until there are as many as bindings. So
nearly all negatives of a task are of one drug, and how often a drug occurs in the test file tells what is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Mask, without
from harness.benchmarks.dti.splits.generator.folds import Halves
from harness.benchmarks.dti.splits.java import Integers, JavaRandom, first_of_shuffled, shuffled


@dataclass(frozen=True, eq=False)
class Category:
    """Drugs or targets in their order. `size` counts those that nobody knows too: then `leading` are the first of
    all after they were shuffled."""

    of_drugs: bool
    members: Integers
    size: int
    leading: Integers


def sides(halves: Halves, space: str, category: Category) -> tuple[Integers, Integers]:
    """The drugs and the targets that the negatives of a space are made of."""
    tested, members = space.startswith("TE"), category.members
    codes = (halves.test, halves.train) if tested else (halves.train, halves.test)
    drugs, targets = halves.asked if tested else halves.only_learned
    if not space.endswith("O"):
        everything = halves.bindings.ends(np.concatenate(codes))
        members = without(everything.drugs if category.of_drugs else everything.targets, members)
    return (members, targets) if category.of_drugs else (drugs, members)


def first_negatives(halves: Halves, space: str, category: Category, known: Mask, seed: int) -> Integers:
    """As the original code draws them, drug by drug, in the order of their file; too few if leading ones lack."""
    bindings, random = halves.bindings, JavaRandom(seed)
    drugs, targets = sides(halves, space, category)
    if category.of_drugs and space.endswith("O") and len(category.leading):
        first_of_shuffled(category.size, 0, random)
        drugs = category.leading
    else:
        drugs = shuffled(drugs, random)
    targets = shuffled(targets, random)
    negatives = np.empty(0, dtype=np.int64)
    for drug in drugs:
        codes = bindings.code(np.array([drug]), targets)
        negatives = np.concatenate([negatives, codes[~known[codes]]])
        if len(negatives) >= len(halves.test):
            break
    return bindings.pairs(negatives[: len(halves.test)])


def spread_negatives(halves: Halves, space: str, category: Category, known: Mask, seed: int) -> Integers:
    """Negatives of which each drug has as many as some drug has bindings, its own number where the space has them.

    Then how often a drug occurs in the test file is the same of negatives as of bindings.
    """
    bindings, generator = halves.bindings, np.random.RandomState(seed)
    drugs, targets = (generator.permutation(np.sort(nodes)) for nodes in sides(halves, space, category))
    free = len(targets) - known.reshape(-1, bindings.targets_end)[drugs[:, None], targets].sum(axis=1)
    place = {drug: place for place, drug in enumerate(drugs.tolist())}
    asked, numbers = np.unique(bindings.drugs_of(halves.test), return_counts=True)
    wanted = sorted(zip(numbers.tolist(), asked.tolist(), strict=True), reverse=True)
    own = [place[drug] if drug in place and free[place[drug]] >= number else -1 for number, drug in wanted]
    shares = {at: number for at, (number, _) in zip(own, wanted, strict=True) if at >= 0}
    free[list(shares)] = 0
    for at, (number, _) in zip(own, wanted, strict=True):
        while at < 0 and number and free.any():
            # the first that has enough, else the one that has most
            other = int(np.argmax(free >= number) if (free >= number).any() else np.argmax(free))
            shares[other] = min(number, int(free[other]))
            number, free[other] = number - shares[other], 0
    negatives = [np.empty(0, dtype=np.int64)]
    for at, number in shares.items():
        codes = bindings.code(drugs[at : at + 1], targets)
        negatives.append(codes[~known[codes]][:number])
    return bindings.pairs(*negatives)
