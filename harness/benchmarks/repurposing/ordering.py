"""Drugs and diseases in another order: rows, columns, and similarities on both axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from harness.base.input_files import Array, Given
from harness.benchmarks.order import Arrangement, Integers, permutation, places_of
from harness.benchmarks.repurposing.splits.folds import TEST

Flags = npt.NDArray[np.bool_]

_PAIRS = ("associations", "folds", "training")
_VIEWS = "drug_views"


def in_order(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """The same problem, its drugs and diseases in the order of a secret."""
    folds = np.asarray(inputs["folds"])
    drugs, diseases = (permutation(order, *axis) for axis in zip(("drugs", "diseases"), folds.shape, strict=True))
    reordered = {name: _reordered(name, np.asarray(values), drugs, diseases) for name, values in inputs.items()}
    published = np.ix_(places_of(drugs), places_of(diseases))

    def places(mask: Flags, new_mask: Flags) -> Integers:
        """Where the run answers the pairs of a mask, one by one in their published order."""
        return (np.cumsum(new_mask) - 1).reshape(new_mask.shape)[published][mask]

    test = places(folds == TEST, reordered["folds"] == TEST)
    training = places(folds >= 0, reordered["folds"] >= 0)
    restore: dict[str, Callable[[Array], Array]] = {
        "predictions.npy": lambda scores: scores[:, test],
        "validation.npy": lambda scores: scores[training],
    }
    return Arrangement(reordered, restore)


def _reordered(name: str, array: Array, drugs: Integers, diseases: Integers) -> Array:
    if name in _PAIRS:
        return np.asarray(array[np.ix_(drugs, diseases)])
    rows = drugs if name.startswith("drug_") else diseases
    if name == _VIEWS:
        # of the columns of the drug features, which are the drugs themselves where the features are similarities
        return array[rows] if len(array) == len(rows) else array
    square = array.shape[0] == array.shape[1]
    # were the columns of a similarity left as they are, its diagonal would tell the order
    return np.asarray(array[np.ix_(rows, rows)] if square else array[rows])
