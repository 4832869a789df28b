"""The part that the authors of the data tested on, as it is; the seed plays no part."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.base.errors import UsageError
from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.pairs import PairSplit, pair_split, split_of_items

SUMMARY = "the test part, or a fold, that the authors of the data released"
_TEST_PART = -1


class Parameters(Strict):
    """Which part is asked."""

    part: int = Field(default=_TEST_PART, ge=_TEST_PART, description="-1: the test part; others: a training fold")


def make(dataset: DtiDataset, seed: int, parameters: Parameters) -> PairSplit:
    """Nothing is drawn. Where a training fold is asked, the test part is left out of both."""
    if parameters.part not in dataset.released:
        part = "test part" if parameters.part == _TEST_PART else f"part {parameters.part}"
        todo = "choose one that it has"
        if not len(dataset.released):
            todo = "give its pairs a column `part` (test, or a training fold's number), or choose another strategy"
        raise UsageError(f"dataset '{dataset.name}' has no released {part}", where="parameter part", todo=todo)
    split = split_of_items(dataset, dataset.released == parameters.part)
    return pair_split(split.rows[_has_part(dataset, parameters)[split.rows[:, 3]]])


def broken_promises(dataset: DtiDataset, split: PairSplit, parameters: Parameters) -> list[str]:
    """Test pairs are exactly those of the asked part, training pairs those of every other but the test part."""
    asked, has_part = dataset.released == parameters.part, _has_part(dataset, parameters)
    test, training = split.rows[~split.is_train, 3], split.rows[split.is_train, 3]
    faults = (
        (test, asked, f"the test pairs are not those of part {parameters.part}"),
        (training, has_part & ~asked, f"the training pairs are not those of the parts beside {parameters.part}"),
    )
    return [what for items, own, what in faults if not np.array_equal(np.sort(items), np.flatnonzero(own))]


def _has_part(dataset: DtiDataset, parameters: Parameters) -> npt.NDArray[np.bool_]:
    """Of each pair, whether it is in the split: where a training fold is asked, the test part is left out."""
    has_part: npt.NDArray[np.bool_] = (dataset.released != _TEST_PART) | (parameters.part == _TEST_PART)
    return has_part
