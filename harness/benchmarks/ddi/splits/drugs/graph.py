"""The graph that joins drugs more similar than a threshold, whole: for strategies that discard drugs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.benchmarks.ddi.splits.drugs.similarity import similar_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from harness.benchmarks.ddi.dataset import DdiDataset


@lru_cache(maxsize=4)
def similarity_graph(dataset: DdiDataset, threshold: float) -> csr_array[Any]:
    """A symmetric matrix with a 1 for every pair of drugs more similar than the threshold."""
    from scipy.sparse import coo_array

    pieces = [*similar_pairs(dataset.fingerprints, threshold)]
    none = [np.zeros(0, dtype=np.int64)]
    first = np.concatenate([piece.first for piece in pieces] or none)
    second = np.concatenate([piece.second for piece in pieces] or none)
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    joined = coo_array((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(dataset.drugs, dataset.drugs)).tocsr()
    joined.sort_indices()
    return joined
