"""Learn from every annotated document, ask for the others: what `harness predict` does."""

from __future__ import annotations

import numpy as np

from harness.base.errors import DataError
from harness.base.manifests import Strict
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset
from harness.benchmarks.combos.splits.form import TEST, TRAIN, DocumentSplit, Parts, split_of

SUMMARY = "learn from every annotated document, ask for all others (to predict)"


class Parameters(Strict):
    """There are none."""


def make(dataset: CombosDataset, seed: int, parameters: Parameters) -> DocumentSplit:
    """By what is known."""
    parts = _parts(dataset)
    if not (parts == TEST).any():
        raise DataError(
            "every document is annotated: nothing is asked",
            where=f"dataset {dataset.name}",
            todo='give a sentence of your own: --text "A plus B was safe." --drug A --drug B; '
            "or make the dataset with --open-sentences",
        )
    return split_of(parts)


def broken_promises(dataset: CombosDataset, split: DocumentSplit, parameters: Parameters) -> list[str]:
    """Documents that are not annotated are asked, all others train."""
    if np.array_equal(split.parts, _parts(dataset)) and split.training:
        return []
    return ["an annotated document does not train, or one that is not annotated is not asked"]


def _parts(dataset: CombosDataset) -> Parts:
    return np.where(dataset.released == UNANNOTATED, TEST, TRAIN).astype(np.int8)
