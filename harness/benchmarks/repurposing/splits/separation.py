"""How far apart a split sets drugs: the published figures, to be compared with those of the original runs.

Distances are scikit-learn's, of features stored column by column as the original had them: so even what is left of
the distance of two equal drugs, which is rounding, comes out as published where the BLAS is the same.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, Folds


def separation(
    dataset: RepurposingDataset, folds: Folds, metric: Literal["euclidean", "cosine"] = "euclidean"
) -> npt.NDArray[np.float64]:
    """The smallest distance above 0 between a test and a training drug, two training drugs, and two test drugs.

    A drug is of either kind when it has such a pair; NaN where no two drugs are apart.
    """
    from sklearn.metrics import pairwise_distances

    distances = pairwise_distances(np.asfortranarray(np.nan_to_num(dataset.drug_features)), metric=metric)
    test = np.flatnonzero((folds == TEST).any(axis=1))
    training = np.flatnonzero((folds >= 0).any(axis=1))
    smallest = []
    for ours, theirs in ((test, training), (training, training), (test, test)):
        between = distances[np.ix_(ours, theirs)]
        smallest.append(between[between > 0].min(initial=np.inf))
    return np.where(np.isinf(smallest), np.nan, smallest)
