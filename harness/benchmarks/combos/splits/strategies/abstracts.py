"""The released files, without training documents that share an abstract with a test document."""

from __future__ import annotations

import numpy as np

from harness.base.manifests import Strict
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.documents import abstracts_of
from harness.benchmarks.combos.splits.form import OUTSIDE, TEST, TRAIN, DocumentSplit, split_of
from harness.benchmarks.combos.splits.strategies import released

SUMMARY = "the released files without training documents that share an abstract with a test document"


class Parameters(Strict):
    """There are none."""


def make(dataset: CombosDataset, seed: int, parameters: Parameters) -> DocumentSplit:
    """Nothing is drawn; documents of a test abstract that are not asked are outside."""
    parts = released.make(dataset, seed, released.Parameters()).parts
    abstracts = np.array(abstracts_of(dataset.documents))
    shared = (parts == TRAIN) & np.isin(abstracts, abstracts[parts == TEST])
    return split_of(np.where(shared, OUTSIDE, parts))


def broken_promises(dataset: CombosDataset, split: DocumentSplit, parameters: Parameters) -> list[str]:
    """The whole test file is asked, no training document is of a test abstract, and every other one is there."""
    abstracts = np.array(abstracts_of(dataset.documents))
    shared = np.isin(abstracts, abstracts[split.parts == TEST])
    learned = split.parts == TRAIN
    broken = []
    if not np.array_equal(split.parts == TEST, dataset.released == TEST):
        broken.append("what is asked is not the test file")
    if count := int((learned & shared).sum()):
        broken.append(f"{count} training documents are of a test abstract")
    if count := int((~learned & ~shared & (dataset.released == TRAIN)).sum()):
        broken.append(f"{count} documents of other abstracts are left out")
    return broken
