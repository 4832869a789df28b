"""One's own data as three comma-separated tables: pairs with labels, drug features, disease features.

associations: columns `drug`, `disease`, `label` (+1, -1; 0 may be left out). Features: the first column names the
drug or disease, every other column is a feature; an empty cell is an unknown value. The feature tables say which
drugs and diseases there are, and in which order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.base.errors import CorruptData, ManifestError
from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import Features, Labels, RepurposingDataset
from harness.data.cells import check_width, rows_of
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

_COLUMNS = ["drug", "disease", "label"]
_LABELS = {"1": 1, "+1": 1, "1.0": 1, "-1": -1, "-1.0": -1, "0": 0, "0.0": 0}


class Parameters(Strict):
    """The names of the three files."""

    associations: str = "associations.csv"
    drug_features: str = "drug_features.csv"
    disease_features: str = "disease_features.csv"


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> RepurposingDataset:
    """The dataset out of its three tables."""
    parameters = parameters_of(manifest, Parameters)
    names = (parameters.associations, parameters.drug_features, parameters.disease_features)
    for name in names:
        if name not in files:
            raise ManifestError(
                f"the file '{name}' is not listed",
                where=f"datasets/{manifest.name}/dataset.toml: files",
                todo="list the three tables under [[files]]",
            )
    return read_tables(manifest.name, *(files[name] for name in names))


def read_tables(name: str, associations: Path, drug_features: Path, disease_features: Path) -> RepurposingDataset:
    """A dataset out of three tables, wherever they lie."""
    drug_ids, drug_names, drug_values = _features(drug_features)
    disease_ids, disease_names, disease_values = _features(disease_features)
    return RepurposingDataset(
        name=name,
        associations=_associations(associations, drug_ids, disease_ids),
        drug_features=drug_values,
        disease_features=disease_values,
        drug_ids=drug_ids,
        disease_ids=disease_ids,
        drug_feature_names=drug_names,
        disease_feature_names=disease_names,
    )


def _features(path: Path) -> tuple[tuple[str, ...], tuple[str, ...], Features]:
    rows = list(rows_of(path))
    if len(rows) < 2 or len(rows[0][1]) < 2:
        raise CorruptData(
            "the table has no features",
            where=str(path),
            todo="give a header, a first column of names and at least one feature column",
        )
    header, ids, values = rows[0][1], [], np.empty((len(rows) - 1, len(rows[0][1]) - 1))
    lines: dict[str, int] = {}
    for number, (line, row) in enumerate(rows[1:]):
        where = f"{path}: line {line}"
        check_width(row, header, where)
        if row[0] in lines:
            raise CorruptData(
                f"'{row[0]}' is also in line {lines[row[0]]}", where=where, todo="keep one of the lines"
            )
        lines[row[0]] = line
        ids.append(row[0])
        cells = zip(row[1:], header[1:], strict=True)
        values[number] = [_number(cell, f"{where}, column '{column}'") for cell, column in cells]
    return tuple(ids), tuple(header[1:]), values


def _associations(path: Path, drug_ids: Sequence[str], disease_ids: Sequence[str]) -> Labels:
    drugs = {name: place for place, name in enumerate(drug_ids)}
    diseases = {name: place for place, name in enumerate(disease_ids)}
    labels = np.zeros((len(drugs), len(diseases)), dtype=np.int8)
    lines: dict[tuple[str, str], int] = {}
    rows = rows_of(path)
    header = next(rows, (0, []))[1]
    if header != _COLUMNS:
        raise CorruptData(
            f"the columns are {', '.join(header) or 'none'}",
            where=f"{path}: line 1",
            todo=f"name them {', '.join(_COLUMNS)}",
        )
    for line, row in rows:
        where = f"{path}: line {line}"
        check_width(row, header, where)
        drug, disease, label = row
        for kind, name, entities in (("drug", drug, drugs), ("disease", disease, diseases)):
            if name not in entities:
                raise CorruptData(
                    f"{kind} '{name}' has no line in the {kind} features",
                    where=where,
                    todo="add it there (its cells may be empty), or remove the pair",
                )
        if label not in _LABELS:
            raise CorruptData(f"label '{label}' is none of -1, 0, +1", where=where, todo="correct the label")
        if (drug, disease) in lines:
            raise CorruptData(
                f"the pair '{drug}', '{disease}' is also in line {lines[drug, disease]}",
                where=where,
                todo="keep one of the lines",
            )
        lines[drug, disease] = line
        labels[drugs[drug], diseases[disease]] = _LABELS[label]
    return labels


def _number(cell: str, where: str) -> float:
    if not cell:
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise CorruptData(
            f"'{cell}' is not a number", where=where, todo="give a number, or leave an unknown value empty"
        ) from None
