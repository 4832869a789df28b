"""Every known pair is training, every unknown pair is to be predicted: for using a method, not for judging it."""

from __future__ import annotations

import numpy as np

from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, Folds, FoldSplit, split_of

SUMMARY = (
    "all known pairs train, all unknown pairs are predicted (for `harness predict`; has no truth to score by)"
)


class Parameters(Strict):
    """There is nothing to choose."""


def make(dataset: RepurposingDataset, seed: int, parameters: Parameters) -> FoldSplit:
    """No randomness is used."""
    return split_of(_folds(dataset))


def broken_promises(dataset: RepurposingDataset, split: FoldSplit, parameters: Parameters) -> list[str]:
    """Test pairs are the unknown ones and no others, and all others train."""
    if np.array_equal(split.folds, _folds(dataset)):
        return []
    return ["the test pairs are not exactly the unknown pairs, or another one does not train"]


def _folds(dataset: RepurposingDataset) -> Folds:
    return np.where(dataset.associations == 0, TEST, 0).astype(np.int8)
