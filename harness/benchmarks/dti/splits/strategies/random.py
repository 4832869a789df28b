"""Pairs drawn at random into folds; against the bindings of a fold stand pairs that are not known to bind."""

from __future__ import annotations

import numpy as np
from pydantic import Field, model_validator

from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.pairs import NEGATIVE, PairSplit, split_of_items, with_negatives

SUMMARY = "a fold of pairs drawn at random (the common setting)"


class Parameters(Strict):
    """Folds, and negatives."""

    folds: int = Field(default=10, ge=2)
    fold: int = Field(default=0, ge=0)
    negatives: float = Field(default=1.0, gt=0, description="per binding that is asked")

    @model_validator(mode="after")
    def _exists(self) -> Parameters:
        if self.fold >= self.folds:
            raise ValueError(f"fold {self.fold} is none of {self.folds}, which are counted from 0")
        return self


def make(dataset: DtiDataset, seed: int, parameters: Parameters) -> PairSplit:
    """Negatives are drawn from all pairs that the dataset does not have, without regard to the fold."""
    generator = np.random.RandomState(seed)
    fold = generator.permutation(len(dataset.pairs)) % parameters.folds
    split = split_of_items(dataset, fold == parameters.fold)
    if dataset.affinity:
        return split
    free = np.flatnonzero(~dataset.known)
    count = min(len(free), round(parameters.negatives * split.test))
    pairs = np.column_stack(np.divmod(generator.permutation(free)[:count], dataset.targets))
    return with_negatives(split, pairs)


def broken_promises(dataset: DtiDataset, split: PairSplit, parameters: Parameters) -> list[str]:
    """Every pair of the dataset is there, its share is asked, and bindings have their negatives."""
    items = split.rows[:, 3]
    own = items >= 0
    asked = int((own & ~split.is_train).sum())
    negatives, free = int((items == NEGATIVE).sum()), dataset.drugs * dataset.targets - len(dataset.pairs)
    expected = 0 if dataset.affinity else min(free, round(parameters.negatives * asked))
    size, folds = len(dataset.pairs), parameters.folds
    faults = (
        (len(np.unique(items[own])) != size, "not every pair of the dataset is there"),
        (abs(asked - size / folds) >= 1, f"{asked} of {size} pairs are asked, not one in {folds}"),
        (negatives != expected, f"there are {negatives} negatives, not {expected}"),
    )
    return [what for is_broken, what in faults if is_broken]
