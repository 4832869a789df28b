"""What a converted dataset must be before anything is computed from it, and what is remarked on but allowed.

Refused: wrong shapes, repeated names, labels other than -1, 0, +1, infinite or immense features, no positive, no
other class.
Remarked on, and treated as docs/data.md says: features that are unknown or constant, rows without any association.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.base.errors import CorruptData
from harness.base.plurals import counted
from harness.base.repeats import repeated
from harness.benchmarks.repurposing.dataset import Features, RepurposingDataset
from harness.benchmarks.repurposing.released import ReleasedDataset

# squares of larger ones overflow where columns are standardised, which makes nothing of a column without a word
_LARGEST = 1e150


def checked_remarks(dataset: RepurposingDataset) -> tuple[str, ...]:
    """Remarks on what is odd but allowed; `CorruptData` for what is not."""
    where = f"dataset {dataset.name}"
    _check_shapes(dataset, where)
    _check_labels(dataset, where)
    remarks = []
    for kind, ids, features, names in (
        ("drug", dataset.drug_ids, dataset.drug_features, dataset.drug_feature_names),
        ("disease", dataset.disease_ids, dataset.disease_features, dataset.disease_feature_names),
    ):
        _check_names(kind, ids, where)
        _check_names(f"{kind} feature", names, where)
        _check_finite(kind, ids, names, features, where)
        remarks += _feature_remarks(kind, features)
    for kind, axis in (("drug", 1), ("disease", 0)):
        empty = int((~(dataset.associations != 0).any(axis=axis)).sum())
        if empty:
            remarks.append(f"{counted(empty, kind)} without a known association, kept as rows of zeros")
    return tuple(remarks)


def _check_shapes(dataset: RepurposingDataset, where: str) -> None:
    drugs, diseases = len(dataset.drug_ids), len(dataset.disease_ids)
    shapes = {
        "associations": (drugs, diseases),
        "drug_features": (drugs, len(dataset.drug_feature_names)),
        "disease_features": (diseases, len(dataset.disease_feature_names)),
    }
    if isinstance(dataset, ReleasedDataset) and dataset.released is not None:
        shapes["released"] = (drugs, diseases)
    for name, shape in shapes.items():
        own = getattr(dataset, name).shape
        if own != shape:
            raise CorruptData(
                f"'{name}' has shape {own}, its names say {shape}",
                where=where,
                todo="give drugs in rows and diseases in columns, features one entity per row",
            )


def _check_labels(dataset: RepurposingDataset, where: str) -> None:
    labels = dataset.associations
    wrong = np.argwhere(~np.isin(labels, (-1, 0, 1)))
    if len(wrong):
        drug, disease = wrong[0]
        raise CorruptData(
            f"label {labels[drug, disease]} is none of -1, 0, +1",
            where=f"{where}: drug '{dataset.drug_ids[drug]}', disease '{dataset.disease_ids[disease]}'",
            todo="use +1 for a known effect, -1 for a known failure, 0 for unknown",
        )
    if labels.size == 0 or not (labels == 1).any():
        raise CorruptData(
            "there is no positive association", where=where, todo="give at least one pair with label +1"
        )
    if (labels == 1).all():
        raise CorruptData(
            "every pair is positive: there is a single class and nothing to rank",
            where=where,
            todo="give pairs with label -1, or leave the unknown ones out",
        )


def _check_names(kind: str, names: Sequence[str], where: str) -> None:
    if twice := repeated(names):
        raise CorruptData(
            f"{len(twice)} {kind} names occur more than once, '{twice[0]}' for one",
            where=where,
            todo="give every row and column a name of its own",
        )


def _check_finite(kind: str, ids: Sequence[str], names: Sequence[str], features: Features, where: str) -> None:
    for wrong, fault, todo in (
        (np.isinf(features), "infinite", "give finite numbers"),
        (np.abs(features) > _LARGEST, "too large to compute with", f"give numbers within {_LARGEST:g}"),
    ):
        places = np.argwhere(wrong)
        if len(places):
            row, column = places[0]
            raise CorruptData(
                f"{counted(len(places), f'{kind} feature')} {fault}",
                where=f"{where}: {kind} '{ids[row]}', feature '{names[column]}'",
                todo=f"{todo}, or leave unknown values empty",
            )


def _feature_remarks(kind: str, features: Features) -> list[str]:
    unknown = np.isnan(features)
    remarks = []
    if unknown.any():
        remarks.append(
            f"{counted(int(unknown.sum()), f'{kind} feature')} unknown; preparation fills in column means"
        )
    nameless = int(unknown.all(axis=1).sum()) if features.shape[1] else 0
    if nameless:
        remarks.append(
            f"{counted(nameless, f'{kind} row')} without any feature; there the mean of every column is put"
        )
    most = np.where(unknown, -np.inf, features)
    least = np.where(unknown, np.inf, features)
    constant = int((most.max(axis=0, initial=-np.inf) <= least.min(axis=0, initial=np.inf)).sum())
    if constant:
        remarks.append(f"{counted(constant, f'{kind} feature column')} constant, so zero once standardised")
    return remarks
