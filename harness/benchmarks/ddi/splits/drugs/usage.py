"""What the items of a dataset tell: which are negatives, how many interactions of each type a drug is part of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset


def negatives(dataset: DdiDataset) -> npt.NDArray[np.bool_]:
    """Which items are pairs drawn as negatives; of single types there are none."""
    signs = dataset.labels if dataset.multilabel else np.ones((len(dataset.labels), 1), dtype=np.int8)
    return np.asarray((signs < 0).any(axis=1), dtype=np.bool_)


def types_of_drugs(dataset: DdiDataset) -> npt.NDArray[np.int64]:
    """Drugs by types: interactions a drug is part of, as head or as tail; negatives are none."""
    if dataset.multilabel:
        items, types = np.nonzero(dataset.labels > 0)
    else:
        items, types = np.arange(len(dataset.pairs)), dataset.labels.astype(np.int64)
    cells = dataset.pairs[items].astype(np.int64) * dataset.types + types[:, None]
    counted = np.bincount(cells.reshape(-1), minlength=dataset.drugs * dataset.types)
    return counted.reshape(dataset.drugs, dataset.types)
