"""Drugs and targets of which no pair is known are new: for using a method, not for judging it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import NEW_NODES, DtiDataset
from harness.benchmarks.dti.splits.pairs import PairSplit, split_of_items, with_negatives

SUMMARY = "every pair of a drug or target without a known pair is asked (for `harness predict`; has no truth)"


class Parameters(Strict):
    """There is nothing to choose."""


def make(dataset: DtiDataset, seed: int, parameters: Parameters) -> PairSplit:
    """All known pairs train. Where no drug and no target is new, every pair that is not known is asked."""
    known = split_of_items(dataset, np.zeros(len(dataset.pairs), dtype=np.bool_))
    return with_negatives(known, np.argwhere(_is_asked(dataset)))


def broken_promises(dataset: DtiDataset, split: PairSplit, parameters: Parameters) -> list[str]:
    """The asked pairs are those of drugs and targets that a person added; else those with a new drug or target, or
    all unknown ones; and no others."""
    same = np.array_equal(split.test_pairs, np.argwhere(_is_asked(dataset)))
    return [] if same else ["the asked pairs are not those of new drugs and targets"]


def _is_asked(dataset: DtiDataset) -> npt.NDArray[np.bool_]:
    if NEW_NODES in dataset.group_names:
        own = np.isin(np.arange(dataset.drugs + dataset.targets), dataset.members_of(NEW_NODES))
        return np.asarray(own[: dataset.drugs, None] | own[dataset.drugs :])
    asked = np.ones((dataset.drugs, dataset.targets), dtype=np.bool_)
    asked[np.ix_(np.unique(dataset.pairs[:, 0]), np.unique(dataset.pairs[:, 1]))] = False
    return asked if asked.any() else ~dataset.known
