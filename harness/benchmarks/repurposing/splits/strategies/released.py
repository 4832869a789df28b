"""The test part that whoever made the data gave with them; the seed deals the inner folds alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.base.errors import DataError, UsageError
from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.released import ReleasedDataset
from harness.benchmarks.repurposing.splits.folds import OUTSIDE, TEST, FoldSplit, inner_folds_of, split_of

SUMMARY = "the test pairs that the data were given with (column `part` of the associations)"


class Parameters(Strict):
    """Where the pairs belong that the data do not name, and the inner models."""

    unlisted: Literal["train", "test"] = Field(default="train", description="pairs that no line names")
    inner_folds: int = Field(default=5, ge=0, le=100)


def make(dataset: RepurposingDataset, seed: int, parameters: Parameters) -> FoldSplit:
    """All but the test pairs train."""
    labels, test = dataset.associations, _test(dataset, parameters)
    if len(np.unique(labels[test])) < 2:
        raise DataError(
            "the test pairs have one label: there is nothing to rank",
            where=f"dataset {dataset.name}, column part",
            todo="name test pairs with label 0 or -1, too, or test on all that no line names: "
            "--split released:unlisted=test",
        )
    if not (labels[~test] == 1).any():
        raise DataError(
            "every association is to be tested: there is nothing to learn from",
            where=f"dataset {dataset.name}, column part",
            todo="write train for some of them",
        )
    folds = np.where(test, TEST, 0).astype(np.int8)
    inner_folds_of(np.flatnonzero(~test), labels, folds, count=parameters.inner_folds, seed=seed)
    return split_of(folds)


def broken_promises(dataset: RepurposingDataset, split: FoldSplit, parameters: Parameters) -> list[str]:
    """The test pairs are exactly those that the data say, and all others train."""
    expected = np.where(_test(dataset, parameters), TEST, 0)
    return [] if np.array_equal(np.minimum(split.folds, 0), expected) else ["other pairs are tested, or left out"]


def _test(dataset: RepurposingDataset, parameters: Parameters) -> npt.NDArray[np.bool_]:
    released = dataset.released if isinstance(dataset, ReleasedDataset) else None
    if released is None:
        raise UsageError(
            f"dataset '{dataset.name}' does not say which pairs to test on",
            where="split released",
            todo="give its associations as a list with a column `part` (train, test), or choose another strategy",
        )
    asked = (TEST, OUTSIDE) if parameters.unlisted == "test" else (TEST,)
    return np.isin(released, asked)
