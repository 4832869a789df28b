"""Drugs and targets of which no pair is known are new: for using a method, not for judging it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import NEW_NODES
from harness.benchmarks.dti.splits.pairs import NEGATIVE, TEST, TRAIN, pair_split

if TYPE_CHECKING:
    import numpy.typing as npt

    from harness.benchmarks.dti.dataset import DtiDataset
    from harness.benchmarks.dti.splits.pairs import PairSplit

SUMMARY = "every pair of a drug or target without a known pair is asked (for `harness predict`; has no truth)"


class Parameters(Strict):
    """There is nothing to choose."""


def make(dataset: DtiDataset, seed: int, parameters: Parameters) -> PairSplit:
    """All known pairs train. Where no drug and no target is new, every pair that is not known is asked."""
    asked = np.argwhere(_is_asked(dataset))
    train = np.column_stack(
        [np.full(len(dataset.pairs), TRAIN), dataset.pairs, np.arange(len(dataset.pairs), dtype=np.int32)]
    )
    test = np.column_stack([np.full(len(asked), TEST), asked, np.full(len(asked), NEGATIVE)])
    return pair_split(np.concatenate([train, test]))


def broken_promises(dataset: DtiDataset, split: PairSplit, parameters: Parameters) -> list[str]:
    """The asked pairs are those of drugs and targets that a person added; else those with a new drug or target, or
    all unknown ones; and no others."""
    asked = np.zeros((dataset.drugs, dataset.targets), dtype=bool)
    asked[tuple(split.test_pairs.T)] = True
    same = bool((asked == _is_asked(dataset)).all())
    return [] if same else ["the asked pairs are not those of new drugs and targets"]


def _is_asked(dataset: DtiDataset) -> npt.NDArray[np.bool_]:
    known = np.zeros((dataset.drugs, dataset.targets), dtype=bool)
    known[tuple(dataset.pairs.T)] = True
    if NEW_NODES in dataset.group_names:
        nodes = dataset.group_members[dataset.group_members[:, 0] == dataset.group_names.index(NEW_NODES), 2]
        own = np.isin(np.arange(dataset.drugs + dataset.targets), nodes)
        return np.asarray(own[: dataset.drugs, None] | own[dataset.drugs :])
    asked = np.ones_like(known)
    asked[np.ix_(np.unique(dataset.pairs[:, 0]), np.unique(dataset.pairs[:, 1]))] = False
    return asked if asked.any() else ~known
