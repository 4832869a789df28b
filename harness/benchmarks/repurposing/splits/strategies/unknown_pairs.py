"""Every known pair is training, every unknown pair is to be predicted: for using a method, not for judging it."""

from __future__ import annotations

import numpy as np

from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, FoldSplit, split_of

SUMMARY = (
    "all known pairs train, all unknown pairs are predicted (for `harness predict`; has no truth to score by)"
)


class Parameters(Strict):
    """There is nothing to choose."""


def make(dataset: RepurposingDataset, seed: int, parameters: Parameters) -> FoldSplit:
    """No randomness is used."""
    return split_of(np.where(dataset.associations == 0, TEST, 0).astype(np.int8))


def broken_promises(dataset: RepurposingDataset, split: FoldSplit, parameters: Parameters) -> list[str]:
    """Test pairs are the unknown ones and no others."""
    if ((split.folds == TEST) == (dataset.associations == 0)).all():
        return []
    return ["the test pairs are not exactly the unknown pairs"]
