"""A share of all pairs as test pairs, drawn at random and stratified by label: the paper's random split.

As published: scikit-learn's train_test_split over all pairs in row-major order, then StratifiedKFold over the
training pairs, again in row-major order, both with the split's seed.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from pydantic import Field

from harness.base.errors import DataError
from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, FoldSplit, inner_folds_of, split_of

SUMMARY = "test pairs drawn at random among all pairs, stratified by label (as published)"


class Parameters(Strict):
    """The published values are the defaults."""

    test_share: float = Field(default=0.2, gt=0, lt=1)
    inner_folds: int = Field(default=5, ge=0, le=100)


def make(dataset: RepurposingDataset, seed: int, parameters: Parameters) -> FoldSplit:
    """Draw the split."""
    from sklearn.model_selection import train_test_split

    labels = dataset.associations
    try:
        training, test = train_test_split(
            np.arange(labels.size),
            test_size=parameters.test_share,
            random_state=seed,
            shuffle=True,
            stratify=labels.reshape(-1),
        )
    except ValueError as error:
        raise DataError(
            f"the pairs can't be shared out by label: {error}",
            where=f"dataset {dataset.name}, test_share {parameters.test_share}",
            todo="give every label at least two pairs, or choose another test_share",
        ) from None
    folds = np.full(labels.shape, TEST, dtype=np.int8)
    assert len(training) + len(test) == labels.size  # every pair is one or the other
    inner_folds_of(np.sort(training), labels, folds, count=parameters.inner_folds, seed=seed)
    return split_of(folds)


def broken_promises(dataset: RepurposingDataset, split: FoldSplit, parameters: Parameters) -> list[str]:
    """Every pair is used, the test set has its size, and its share of every label, to one pair."""
    labels, folds = dataset.associations, split.folds
    test = folds == TEST
    wanted, found = ceil(parameters.test_share * labels.size), int(test.sum())
    broken = [f"{found} pairs are test pairs, not {wanted}"] if found != wanted else []
    if (folds < TEST).any():
        broken.append("some pairs are neither training nor test")
    for label in np.unique(labels):
        everywhere, tested = int((labels == label).sum()), int((test & (labels == label)).sum())
        if abs(tested - everywhere * wanted / labels.size) > 1:
            broken.append(
                f"{tested} of {everywhere} pairs with label {label:+d} are test pairs, "
                f"not {everywhere * wanted / labels.size:.1f}"
            )
    return broken
