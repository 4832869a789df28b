"""The smallest dataset of drug pairs in which every part is there, to be changed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.benchmarks.ddi.dataset import DdiDataset

# of the same items, where a pair has several types at once
SIGNS = np.array([[1, 1], [-1, 0], [0, 1]], dtype=np.int8)


def tiny(**changes: Any) -> DdiDataset:
    """Three drugs, three triplets, one released split; then the changes."""
    dataset = DdiDataset(
        name="tiny",
        pairs=np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32),
        labels=np.array([0, 1, 1], dtype=np.int32),
        fingerprints=np.ones((3, 4), dtype=np.int32),
        knowledge=np.array([[0, 3, 0]], dtype=np.int32),
        years=np.array([1990, 0, 2000], dtype=np.int32),
        released=np.array([[0, 0], [0, 0], [2, 0], [0, 0], [5, 0], [5, 1]], dtype=np.int32),
        drug_ids=("a", "b", "c"),
        smiles=("C", "CC", "CCC"),
        drug_names=("A", "B", "C"),
        drug_texts=("t", "t", "t"),
        graph_texts=("t", "t", "t"),
        type_names=("x", "y"),
        entity_names=("a", "b", "c", "gene"),
        relation_names=("binds",),
        released_names=("random",),
    )
    return replace(dataset, **changes)
