"""Drugs and diseases of one's own beside those of a dataset: without an association, known by their features.

Where features are similarities to all others of a kind, an item of one's own becomes a feature too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.base.errors import UsageError, unknown
from harness.base.plurals import counted
from harness.benchmarks.new_item import Kind, NewItem, Usual, check_name, not_readable
from harness.benchmarks.repurposing.dataset import Features, RepurposingDataset
from harness.benchmarks.repurposing.released import ReleasedDataset
from harness.benchmarks.repurposing.splits.folds import OUTSIDE

_HOLDS = "list of features (FEATURE=NUMBER, separated by semicolons or lines)"
KINDS = {
    kind: Kind(
        _HOLDS,
        inputs=tuple(f"{kind}_{form}" for form in ("features", "standardised", "similarity")),
        lists=(f"{kind}_ids",),
        between_lines=";",
    )
    for kind in ("drug", "disease")
}
USUAL = Usual("bnnr", ("fdataset", "synthetic"))


def with_new(dataset: RepurposingDataset, items: Sequence[NewItem]) -> RepurposingDataset:
    """The dataset with further drugs and diseases behind its own; features that nobody names are unknown."""
    names = {name.lower() for name in (*dataset.drug_ids, *dataset.disease_ids)}
    for item in items:
        check_name(item, names)
    drugs, diseases = ([item for item in items if item.kind == kind] for kind in KINDS)
    drug_features, drug_names = _larger(
        dataset.drug_features, dataset.drug_feature_names, dataset.drug_ids, drugs, dataset.name
    )
    disease_features, disease_names = _larger(
        dataset.disease_features, dataset.disease_feature_names, dataset.disease_ids, diseases, dataset.name
    )
    behind = ((0, len(drugs)), (0, len(diseases)))
    if isinstance(dataset, ReleasedDataset) and dataset.released is not None:
        dataset = replace(dataset, released=np.pad(dataset.released, behind, constant_values=OUTSIDE))
    return replace(
        dataset,
        associations=np.pad(dataset.associations, behind),
        drug_features=drug_features,
        disease_features=disease_features,
        drug_ids=(*dataset.drug_ids, *(drug.name for drug in drugs)),
        disease_ids=(*dataset.disease_ids, *(disease.name for disease in diseases)),
        drug_feature_names=drug_names,
        disease_feature_names=disease_names,
        remarks=(),
    )


def _larger(
    features: Features, names: tuple[str, ...], ids: tuple[str, ...], items: Sequence[NewItem], dataset: str
) -> tuple[Features, tuple[str, ...]]:
    """Features with a row for each item, and a column where features are similarities to rows."""
    if not items:
        return features, names
    before, own = len(names), [item.name for item in items]
    if len(names) == len(ids):
        if names != ids:
            raise UsageError(
                f"the features of dataset {dataset} are similarities whose columns are not named as its rows are",
                where=items[0].where,
                todo="take a dataset with other features, or list all in tables of your own (docs/predicting.md)",
            )
        features = np.pad(features, ((0, 0), (0, len(items))), constant_values=np.nan)
        names = (*names, *own)
    rows = np.full((len(items), len(names)), np.nan)
    for row, item in enumerate(items):
        for name, value in _numbers(item, names).items():
            rows[row, names.index(name)] = value
    if len(names) > before:
        own_block = rows[:, before:]
        merged = np.where(np.isnan(own_block), own_block.T, own_block)
        np.fill_diagonal(merged, 1.0)
        for row, column in np.argwhere(~np.isnan(own_block) & (own_block != merged.T))[:1]:
            raise UsageError(
                f"'{own[column]}' is said to be {own_block[row, column]:g} and {merged[column, row]:g} similar",
                where=items[row].where,
                todo="give one number for both; to itself each is 1",
            )
        rows[:, before:] = merged
        features[:, before:] = rows[:, :before].T
    elif before == len(ids) + len(items):
        # by their shape alone are similarities told from features
        kind = f"new {items[0].kind}"
        raise UsageError(
            f"with {counted(len(items), kind)} the features of dataset {dataset} are square, which to methods are"
            " similarities",
            where=items[0].where,
            todo=f"ask for another number of {kind}s at once",
        )
    return np.concatenate([features, rows]), names


def _numbers(item: NewItem, names: Sequence[str]) -> dict[str, float]:
    """The features that a text names, and their values."""
    numbers: dict[str, float] = {}
    for entry in filter(None, map(str.strip, item.text.split(";"))):
        name, equals, text = entry.rpartition("=")
        if not equals:
            raise not_readable(item, KINDS[item.kind])
        if name.strip() in numbers:
            todo = "give each feature once"
            raise UsageError(f"'{name.strip()}' is given twice", where=f"{item.where}: {entry}", todo=todo)
        if name.strip() not in names:
            near = [one for one in names if name.strip()[:2].lower() == one[:2].lower()][:20] or names[:20]
            raise unknown("feature", name.strip(), near, where=item.where)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if "_" in text or not math.isfinite(value):
            raise UsageError(f"'{text}' is no finite number", where=f"{item.where}: {entry}", todo="write one")
        numbers[name.strip()] = value
    if not numbers:
        raise not_readable(item, KINDS[item.kind])
    return numbers
