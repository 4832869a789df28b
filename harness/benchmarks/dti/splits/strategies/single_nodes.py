"""Test 4 of BETA: targets for one drug, or drugs for one target.

There is no code of it. The paper's table has, on average of ten, 33 bindings asked of a drug and 44 of a target,
all ten still learned from: half of the bindings of the ten with most (33.3 and 43.7). So this is done here.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from harness.base.errors import DataError
from harness.base.manifests import Strict
from harness.base.plurals import counted
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.generator import folds
from harness.benchmarks.dti.splits.generator.bindings import Mask, bindings_of, without
from harness.benchmarks.dti.splits.generator.folds import Halves, parts_of, split_of
from harness.benchmarks.dti.splits.generator.spaces import uniform_negatives
from harness.benchmarks.dti.splits.java import Integers
from harness.benchmarks.dti.splits.pairs import PairSplit

SUMMARY = "Test 4 of BETA: half of the bindings of one drug or target, against 501 others of its pairs"

SEARCHES, NEGATIVES = 10, 501


class Parameters(Strict):
    """One of the drugs, or targets, with most bindings."""

    reading: Literal["as-defined"] = "as-defined"
    kind: Literal["drug", "target"] = "drug"
    rank: int = Field(default=0, ge=0, lt=SEARCHES, description="place among those with most bindings")


def make(dataset: DtiDataset, seed: int, parameters: Parameters) -> PairSplit:
    """The task with its negatives."""
    halves = positives(dataset, seed, parameters)
    space, _ = _space(dataset, parameters)
    return split_of(halves, uniform_negatives(space, halves.bindings.known, NEGATIVES, seed))


def positives(dataset: DtiDataset, seed: int, parameters: Parameters) -> Halves:
    """Half of the node's bindings, the smaller where it does not come out even, and all others to learn from."""
    bindings = bindings_of(dataset)
    _, own = _space(dataset, parameters)
    asked = own[np.random.RandomState([seed, 4]).permutation(len(own))[: len(own) // 2]]
    return Halves(bindings, without(bindings.codes, asked), asked)


def _space(dataset: DtiDataset, parameters: Parameters) -> tuple[Mask, Integers]:
    """The pairs of the node, and its bindings."""
    bindings, axis = bindings_of(dataset), ("drug", "target").index(parameters.kind)
    nodes = dataset.pairs[:, axis]
    counts = np.bincount(nodes)
    # of fewer than two bindings none is asked
    by_bindings = np.argsort(-counts, kind="stable")[: int((counts > 1).sum())]
    if parameters.rank >= len(by_bindings):
        raise DataError(
            f"there is no {parameters.kind} of rank {parameters.rank}",
            where=f"dataset {dataset.name}: {counted(len(by_bindings), parameters.kind)} with two bindings",
            todo=f"name a rank below {len(by_bindings)}" if len(by_bindings) else "take another dataset, or kind",
        )
    node = by_bindings[parameters.rank]
    space = np.zeros((dataset.drugs, dataset.targets), dtype=np.bool_)
    space[(node, slice(None)) if axis == 0 else (slice(None), node)] = True
    return space, bindings.codes[nodes == node]


def broken_promises(dataset: DtiDataset, split: PairSplit, parameters: Parameters) -> list[str]:
    """All bindings are there, half of the node's are asked, and negatives are 501 of its other pairs, or all."""
    halves, negatives = parts_of(dataset, split)
    space, own = _space(dataset, parameters)
    broken = folds.wrong_bindings(halves, halves.bindings.mask(own), len(own) // 2)
    return broken + folds.wrong_negatives(halves, negatives, space, NEGATIVES)
