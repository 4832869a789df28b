"""Labelled matrices in tab-separated text, as R and pandas write them, several of them side by side as features.

The associations say which drugs and diseases there are, and in which order. Rows of features are found by name or,
where the tables name things differently, taken in their order. A name that only one of two tables has is refused,
unless the manifest lists it: then the features of that drug or disease are unknown in that table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from harness.base.errors import CorruptData, ManifestError
from harness.base.manifests import Strict
from harness.base.repeats import repeated
from harness.benchmarks.repurposing.dataset import Features, RepurposingDataset
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of


class FeatureTable(Strict):
    """One table of features; `unmatched` are the names that it or the associations have alone."""

    file: str
    rows: Literal["by name", "in order"] = "by name"
    unmatched: list[str] = []


class Parameters(Strict):
    """Where each part of the dataset lies."""

    associations: str
    drug_features: list[FeatureTable]
    disease_features: list[FeatureTable]


@dataclass(frozen=True)
class _Table:
    where: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Features


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> RepurposingDataset:
    """The dataset out of its tables."""
    parameters = parameters_of(manifest, Parameters)
    associations = _read(parameters.associations, files)
    drug_features, drug_names = _side_by_side(parameters.drug_features, associations.rows, files)
    disease_features, disease_names = _side_by_side(parameters.disease_features, associations.columns, files)
    if not np.isin(associations.values, (-1, 0, 1)).all():
        raise CorruptData(
            "a value is no label", where=associations.where, todo="use +1, -1, and 0 for what is unknown"
        )
    return RepurposingDataset(
        name=manifest.name,
        associations=associations.values.astype(np.int8),
        drug_features=drug_features,
        disease_features=disease_features,
        drug_ids=associations.rows,
        disease_ids=associations.columns,
        drug_feature_names=drug_names,
        disease_feature_names=disease_names,
    )


def _side_by_side(
    features: Sequence[FeatureTable], ids: tuple[str, ...], files: Mapping[str, Path]
) -> tuple[Features, tuple[str, ...]]:
    tables = [_read(part.file, files) for part in features]
    parts = [_rows_of(table, ids, part) for table, part in zip(tables, features, strict=True)]
    names = tuple(name for table in tables for name in table.columns)
    return np.concatenate([np.empty((len(ids), 0)), *parts], axis=1), names


def _rows_of(table: _Table, ids: tuple[str, ...], features: FeatureTable) -> Features:
    """The table's rows in the order of `ids`, NaN where it has none."""
    if features.rows == "in order":
        if len(table.rows) != len(ids):
            raise CorruptData(
                f"{len(table.rows)} rows instead of {len(ids)}",
                where=table.where,
                todo="give one row for each row or column of the associations, in their order",
            )
        return table.values
    alone = set(table.rows) ^ set(ids)
    if alone != set(features.unmatched):
        name = min(alone ^ set(features.unmatched))
        raise CorruptData(
            f"'{name}' is in this table or in the associations, but not in both"
            if name in alone
            else f"'{name}' is listed as unmatched, but is not",
            where=table.where,
            todo="correct the name, or the manifest's list 'unmatched' of this table",
        )
    place = {name: number for number, name in enumerate(table.rows)}
    values = np.full((len(ids), len(table.columns)), np.nan)
    for row, name in enumerate(ids):
        if name in place:
            values[row] = table.values[place[name]]
    return values


def _read(file: str, files: Mapping[str, Path]) -> _Table:
    """A table whose header may or may not have a cell above the row names."""
    if file not in files:
        raise ManifestError(
            f"a parameter names '{file}', which is none of the manifest's files", todo="add it under [[files]]"
        )
    try:
        lines = files[file].read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise CorruptData(
            f"not a text in UTF-8: {error}",
            where=str(files[file]),
            todo="save it so, or restore the original file",
        ) from None
    header = lines[0].split("\t") if lines else []
    numbered = [(number, line.split("\t")) for number, line in enumerate(lines[1:], start=2) if line]
    rows = [row for _, row in numbered]
    width = len(rows[0]) - 1 if rows else 0
    columns, names = tuple(header[len(header) - width :]), tuple(row[0] for row in rows)
    wrong = next((number for number, row in numbered if len(row) != width + 1), None)
    if not width or len(header) not in (width, width + 1) or wrong:
        raise CorruptData(
            "lines differ in their number of cells",
            where=f"{files[file]}: line {wrong or 1}",
            todo="restore the original file",
        )
    if twice := repeated(names):
        raise CorruptData(
            f"'{twice[0]}' names more than one row",
            where=str(files[file]),
            todo="give every row a name of its own",
        )
    try:
        values = np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows])
    except ValueError as error:
        raise CorruptData(
            f"a cell is no number: {error}", where=str(files[file]), todo="restore the original file"
        ) from None
    return _Table(str(files[file]), names, columns, values)
