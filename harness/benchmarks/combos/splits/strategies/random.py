"""Abstracts drawn at random from both files; documents of one abstract stay together."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from harness.base.manifests import Strict
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset
from harness.benchmarks.combos.documents import abstracts_of
from harness.benchmarks.combos.splits.form import OUTSIDE, TEST, TRAIN, DocumentSplit, split_of

SUMMARY = "abstracts drawn at random, whichever file they were released in"


class Parameters(Strict):
    """How much is asked."""

    test_share: float = Field(default=0.2, gt=0, lt=1, description="of the annotated documents")


def make(dataset: CombosDataset, seed: int, parameters: Parameters) -> DocumentSplit:
    """Abstracts are drawn until they have so many documents. What is not annotated is outside."""
    annotated = dataset.released != UNANNOTATED
    abstracts = np.array(abstracts_of(dataset.documents))
    names, counts = np.unique(abstracts[annotated], return_counts=True)
    drawn = np.random.RandomState(seed).permutation(len(names))
    before = np.cumsum(counts[drawn]) - counts[drawn]
    asked = names[drawn[before < _wanted(dataset, parameters)]]
    return split_of(np.where(annotated, np.where(np.isin(abstracts, asked), TEST, TRAIN), OUTSIDE))


def broken_promises(dataset: CombosDataset, split: DocumentSplit, parameters: Parameters) -> list[str]:
    """Every annotated document is there, each abstract in one part, and the share asked, up to an abstract."""
    abstracts = np.array(abstracts_of(dataset.documents))
    broken = []
    if not np.array_equal(split.parts == OUTSIDE, dataset.released == UNANNOTATED):
        broken.append("an annotated document is outside, or one that is not annotated is not")
    if both := len(np.intersect1d(abstracts[split.parts == TRAIN], abstracts[split.parts == TEST])):
        broken.append(f"{both} abstracts are in both parts")
    wanted, largest = _wanted(dataset, parameters), int(np.bincount(abstracts).max())
    if not wanted <= split.test < wanted + largest:
        broken.append(f"{split.test} documents are asked, not {wanted}")
    return broken


def _wanted(dataset: CombosDataset, parameters: Parameters) -> int:
    return max(1, round(parameters.test_share * int((dataset.released != UNANNOTATED).sum())))
