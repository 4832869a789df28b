"""What tasks promise, examined on the rows of a split alone: nothing here draws, or knows of hash tables."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Mask
from harness.benchmarks.dti.splits.generator.folds import Halves
from harness.benchmarks.dti.splits.java import Integers


def wrong_bindings(halves: Halves, chosen: Mask, number: int) -> list[str]:
    """All bindings are there once, so many are asked, and only chosen ones."""
    broken, codes = [], np.concatenate([halves.train, halves.test])
    if not np.array_equal(np.sort(codes), np.sort(halves.bindings.codes)):
        broken.append("the bindings of both parts are not all bindings, each once")
    if len(halves.test) != number:
        broken.append(f"{len(halves.test)} bindings are asked, not {number}")
    if outside := int((~chosen[halves.test]).sum()):
        broken.append(f"{outside} bindings are asked that the task is not about")
    return broken


def wrong_new_bindings(halves: Halves, codes: Integers) -> list[str]:
    """All known bindings are learned from, and the new ones are asked."""
    broken = []
    if not np.array_equal(np.sort(halves.train), np.sort(halves.bindings.codes)):
        broken.append("what is learned from is not all known bindings")
    if not np.array_equal(np.sort(halves.test), np.unique(codes)):
        broken.append("what is asked is not the new bindings of the group")
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
    scores = -np.bincount(drugs)[drugs]
    asked, drawn = scores[: len(halves.test)], scores[len(halves.test) :]
    below = (drawn[None] < asked[:, None]).sum() + 0.5 * (drawn[None] == asked[:, None]).sum()
    return float(below / (len(asked) * len(drawn))) if len(drawn) else 0.5
