"""Test drugs that lie far from the training drugs: the paper's weakly correlated split, which draws nothing.

Drugs are joined by average linkage of the distances of their features; the tree is cut into more and more clusters
until the first clusters hold at most the training share of the pairs. The published search has three oddities, all
kept here: its upper branch is never taken, its cluster count is off by one, and its last step is left out. The
seed changes the inner folds only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.base.errors import DataError
from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, FoldSplit, inner_folds_of, split_of

SUMMARY = "all pairs of a group of drugs whose features are far from the others' (as published)"

_MOST_ROUNDS = 101
_NONE = -1


class Parameters(Strict):
    """The published runs used euclidean distances and no early stop; the paper's text says cosine."""

    metric: Literal["euclidean", "cosine"] = "euclidean"
    early_stop: int | None = Field(default=None, ge=1)
    test_share: float = Field(default=0.2, gt=0, lt=1)
    inner_folds: int = Field(default=5, ge=0, le=100)


def make(dataset: RepurposingDataset, seed: int, parameters: Parameters) -> FoldSplit:
    """Cut the tree of drugs in two."""
    labels = dataset.associations
    folds = np.full(labels.shape, TEST, dtype=np.int8)
    test = _test_drugs(dataset, parameters)
    if test.all() or not test.any():
        raise DataError(
            f"no group of drugs lies apart: {int(test.sum())} of {len(test)} would be test drugs",
            where=f"dataset {dataset.name}: drug features",
            todo="use the random split, or another test_share or metric",
        )
    folds[~test] = 0
    training = np.flatnonzero(folds.reshape(-1) != TEST)
    inner_folds_of(training, labels, folds, count=parameters.inner_folds, seed=seed)
    return split_of(folds)


def broken_promises(dataset: RepurposingDataset, split: FoldSplit, parameters: Parameters) -> list[str]:
    """Every pair is used, and no drug has both training and test pairs."""
    folds = split.folds
    test = folds == TEST
    both = np.flatnonzero(test.any(axis=1) & ~test.all(axis=1))
    broken = []
    if (folds < TEST).any():
        broken.append("some pairs are neither training nor test")
    if len(both):
        broken.append(f"{len(both)} drugs have training and test pairs, '{dataset.drug_ids[both[0]]}' for one")
    return broken


@lru_cache(maxsize=4)
def _test_drugs(dataset: RepurposingDataset, parameters: Parameters) -> npt.NDArray[np.bool_]:
    """The published search for a number of clusters, and the drugs it sets apart; the same for all seeds."""
    from scipy.cluster.hierarchy import fcluster, linkage

    drugs, diseases = dataset.associations.shape
    wanted = int((1 - parameters.test_share) * drugs * diseases)
    if drugs < 2:
        return np.ones(drugs, dtype=np.bool_)
    tree = linkage(_distances(dataset, parameters.metric), "average")
    low, high = 2, drugs
    seen: list[int] = []
    clusters, chosen = np.ones(drugs, dtype=np.int64), _NONE
    while low < high and len(seen) < _MOST_ROUNDS:
        middle = (low + high) // 2
        clusters = fcluster(tree, middle, criterion="maxclust").astype(np.int64)
        selected, chosen = _largest_within(clusters, diseases, wanted)
        seen.append(selected)
        if selected == wanted or _is_stuck(seen, parameters.early_stop):
            break
        if selected < wanted:
            low = middle + 1
        else:
            high = middle
    return np.asarray(clusters > chosen + 1)


def _distances(dataset: RepurposingDataset, metric: Literal["euclidean", "cosine"]) -> npt.NDArray[np.float64]:
    """Of all pairs of drugs; scipy's, which do not depend on the BLAS, so that ties are the same everywhere."""
    from scipy.spatial.distance import pdist

    features = np.nan_to_num(dataset.drug_features)
    empty = np.flatnonzero(~features.any(axis=1))
    if metric == "cosine" and len(empty):
        raise DataError(
            f"drug '{dataset.drug_ids[empty[0]]}' has no feature but zeros: it has no cosine distance",
            where=f"dataset {dataset.name}: {len(empty)} rows of drug features",
            todo="use metric=euclidean, or leave these drugs out",
        )
    return np.asarray(pdist(features, metric))


def _largest_within(clusters: npt.NDArray[np.int64], diseases: int, wanted: int) -> tuple[int, int]:
    """How many pairs the first clusters hold, at most `wanted`, and how many clusters these are."""
    pairs = np.cumsum(np.bincount(clusters)[1:]) * diseases
    within = np.flatnonzero(pairs <= wanted)
    return (int(pairs[within[-1]]), int(within[-1]) + 1) if len(within) else (_NONE, _NONE)


def _is_stuck(seen: list[int], early_stop: int | None) -> bool:
    """The last count equals the `early_stop` counts before it."""
    return early_stop is not None and len(seen) > early_stop and len(set(seen[-early_stop - 1 :])) == 1
