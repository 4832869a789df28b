"""Drugs and diseases in another order: rows, columns, and similarities on both axes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.given import Array, Given
from harness.order import Arrangement, Integers, permutation
from harness.splits.folds import TEST

_PAIRS = ("associations", "folds", "training")
_VIEWS = "drug_views"


def in_order(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """The same problem, its drugs and diseases in the order of a secret."""
    folds = np.asarray(inputs["folds"])
    drugs, diseases = (permutation(order, *axis) for axis in zip(("drugs", "diseases"), folds.shape, strict=True))
    moved = {name: _moved(name, np.asarray(given), drugs, diseases) for name, given in inputs.items()}
    # the published number of each pair, in the order in which the run finds the pairs
    pairs = drugs[:, None] * len(diseases) + diseases
    test, training = (np.argsort(pairs[mask]) for mask in (moved["folds"] == TEST, moved["folds"] >= 0))

    return Arrangement(
        moved,
        {"predictions.npy": lambda scores: scores[:, test], "validation.npy": lambda scores: scores[training]},
    )


def _moved(name: str, array: Array, drugs: Integers, diseases: Integers) -> Array:
    if name in _PAIRS:
        return np.asarray(array[np.ix_(drugs, diseases)])
    rows = drugs if name.startswith("drug_") else diseases
    if name == _VIEWS:
        # of the columns of the drug features, which are the drugs themselves where the features are similarities
        return array[rows] if len(array) == len(rows) else array
    square = array.shape[0] == array.shape[1]
    # were the columns of a similarity left as they are, its diagonal would tell the order
    return np.asarray(array[np.ix_(rows, rows)] if square else array[rows])
