"""The inputs of a method: training labels, folds, and the features in the form it declares.

The label of a test pair never leaves the harness: `associations` is 0 there. The standardised features and the
similarities are prepared as the published benchmark prepared them for every method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import UsageError
from harness.benchmarks.repurposing.dataset import Features, Labels, RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import Folds

Array = npt.NDArray[Any]

_ALWAYS = ("associations", "folds")
# columns have a deviation of 1 once standardised: a row that deviates by less than this does not
_ROUNDING = 1e-12
_FEATURES: dict[str, Callable[[RepurposingDataset], Array]] = {
    "drug_features": lambda dataset: dataset.drug_features,
    "disease_features": lambda dataset: dataset.disease_features,
    "drug_standardised": lambda dataset: standardised(dataset.drug_features),
    "disease_standardised": lambda dataset: standardised(dataset.disease_features),
    "drug_similarity": lambda dataset: similarity(dataset.drug_features),
    "disease_similarity": lambda dataset: similarity(dataset.disease_features),
    "drug_views": lambda dataset: views(dataset.drug_feature_names),
}


def arrays_of(dataset: RepurposingDataset, folds: Folds, names: Sequence[str]) -> dict[str, Array]:
    """The inputs of every method, and those that this one declares."""
    return {name: _array(name, dataset, folds) for name in dict.fromkeys((*_ALWAYS, *names))}


def training_labels(associations: Labels, folds: Folds) -> Labels:
    """The labels a method may see: 0 wherever the pair is not training."""
    return np.where(folds >= 0, associations, 0).astype(np.int8)


def standardised(features: Features) -> Features:
    """Columns with mean 0 and population standard deviation 1; unknown values become the column's mean first.

    A column without any known value becomes 0, and so does a constant one.
    """
    values = np.array(features, order="C")
    values[:, np.isnan(values).all(axis=0)] = 0.0
    unknown = np.isnan(values)
    if unknown.any():
        values = np.where(unknown, np.nanmean(values, axis=0), values)
    deviation = values.std(axis=0)
    deviation[deviation == 0] = 1.0
    standard = (values - values.mean(axis=0)) / deviation
    # the mean of equal values may be off by rounding, which would be blown up to a deviation of 1
    standard[:, np.fmax.reduce(features, axis=0) == np.fmin.reduce(features, axis=0)] = 0.0
    return np.asarray(standard)


def similarity(features: Features) -> Features:
    """Square features as they are once standardised, others as Pearson correlations between rows.

    A row of equal values, such as one without any known feature, correlates with nothing: 0 stands for it.
    """
    standard = standardised(features)
    if standard.shape[0] == standard.shape[1]:
        return standard
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = np.atleast_2d(np.corrcoef(standard))
    flat = standard.std(axis=1) < _ROUNDING
    correlations[flat] = correlations[:, flat] = 0.0
    return correlations


def views(names: Sequence[str]) -> npt.NDArray[np.int32]:
    """The view of every feature, numbered from 0 in the order they come: what its name has before the first "-".

    A single view where a name has no "-": the published rule for telling kinds of features apart.
    """
    if not all("-" in name for name in names):
        return np.zeros(len(names), dtype=np.int32)
    kinds = [name.partition("-")[0] for name in names]
    number = {kind: place for place, kind in enumerate(dict.fromkeys(kinds))}
    return np.array([number[kind] for kind in kinds], dtype=np.int32)


def _array(name: str, dataset: RepurposingDataset, folds: Folds) -> Array:
    if name == "associations":
        return training_labels(dataset.associations, folds)
    if name == "folds":
        return folds
    if name not in _FEATURES:
        raise UsageError(
            f"no input is called '{name}'",
            where="method.toml: inputs",
            todo=f"choose among: {', '.join((*_ALWAYS, *_FEATURES))}",
        )
    return _features(name, dataset)


# every run of a campaign gets the same arrays, of few datasets
@lru_cache(maxsize=16)
def _features(name: str, dataset: RepurposingDataset) -> Array:
    array = _FEATURES[name](dataset)
    array.setflags(write=False)
    return array
