"""Learn from every annotated document, ask for the others: what `harness predict` does."""

from __future__ import annotations

import numpy as np

from harness.base.manifests import Strict
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset
from harness.benchmarks.combos.splits.form import TEST, TRAIN, DocumentSplit, Parts, split_of

SUMMARY = "learn from every annotated document, ask for all others (to predict)"


class Parameters(Strict):
    """There are none."""


def make(dataset: CombosDataset, seed: int, parameters: Parameters) -> DocumentSplit:
    """By what is known."""
    return split_of(_parts(dataset))


def broken_promises(dataset: CombosDataset, split: DocumentSplit, parameters: Parameters) -> list[str]:
    """Documents that are not annotated are asked, all others train."""
    if np.array_equal(split.parts, _parts(dataset)) and split.training:
        return []
    return ["an annotated document does not train, or one that is not annotated is not asked"]


def _parts(dataset: CombosDataset) -> Parts:
    return np.where(dataset.released == UNANNOTATED, TEST, TRAIN).astype(np.int8)
