"""Matrices in MATLAB files (.mat), turned so that drugs are rows; names from cell arrays or a labelled table."""

from __future__ import annotations

import codecs
import csv
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from harness.base.errors import CorruptData, ManifestError
from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

_ANOTHER = "name another variable, or restore the original file"


class Matrix(Strict):
    """One variable of one file."""

    file: str
    variable: str
    transpose: bool = False


class NameArray(Strict):
    """A cell array of names, or the first row or column of a comma-separated table."""

    file: str
    variable: str = ""
    axis: Literal["", "rows", "columns"] = ""
    encoding: str = "utf-8"

    @field_validator("encoding")
    @classmethod
    def _is_an_encoding(cls, text: str) -> str:
        try:
            codecs.lookup(text)
        except LookupError:
            raise ValueError(f"'{text}' is no encoding, such as utf-8 or latin-1") from None
        return text


class Parameters(Strict):
    """Where each part of the dataset lies."""

    associations: Matrix
    drug_features: Matrix
    disease_features: Matrix
    drug_ids: NameArray
    disease_ids: NameArray


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> RepurposingDataset:
    """The dataset out of its matrices, as they are."""
    parameters = parameters_of(manifest, Parameters)
    drug_features = _matrix(parameters.drug_features, files).astype(np.float64)
    disease_features = _matrix(parameters.disease_features, files).astype(np.float64)
    drug_ids = _names(parameters.drug_ids, files)
    disease_ids = _names(parameters.disease_ids, files)
    return RepurposingDataset(
        name=manifest.name,
        associations=_labels(_matrix(parameters.associations, files), parameters.associations),
        drug_features=drug_features,
        disease_features=disease_features,
        drug_ids=drug_ids,
        disease_ids=disease_ids,
        drug_feature_names=_feature_names(drug_features, drug_ids),
        disease_feature_names=_feature_names(disease_features, disease_ids),
    )


def _variable(file: str, variable: str, files: Mapping[str, Path]) -> npt.NDArray[Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(_path(file, files))
    except (MatReadError, NotImplementedError, OSError, LookupError, TypeError, ValueError, zlib.error) as error:
        todo = "save it with MATLAB's option -v7, or restore the original file"
        raise CorruptData(f"no file of MATLAB that can be read: {error}", where=file, todo=todo) from None
    if variable not in content:
        present = sorted(name for name in content if not name.startswith("__"))
        raise CorruptData(
            f"there is no variable '{variable}'", where=file, todo=f"the file has: {', '.join(present)}"
        )
    return np.asarray(content[variable])


def _path(file: str, files: Mapping[str, Path]) -> Path:
    if file not in files:
        raise ManifestError(
            f"a parameter names '{file}', which is none of the manifest's files", todo="add it under [[files]]"
        )
    return files[file]


def _matrix(matrix: Matrix, files: Mapping[str, Path]) -> npt.NDArray[Any]:
    values = _variable(matrix.file, matrix.variable, files)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise CorruptData(
            f"variable '{matrix.variable}' is not a matrix of numbers", where=matrix.file, todo=_ANOTHER
        )
    return np.ascontiguousarray(values.T if matrix.transpose else values)


def _labels(values: npt.NDArray[Any], matrix: Matrix) -> npt.NDArray[np.int8]:
    if not np.isin(values, (-1, 0, 1)).all():
        raise CorruptData(
            f"variable '{matrix.variable}' has values that are no labels", where=matrix.file, todo=_ANOTHER
        )
    return values.astype(np.int8)


def _names(names: NameArray, files: Mapping[str, Path]) -> tuple[str, ...]:
    if names.variable:
        cells = [np.asarray(cell).ravel() for cell in _variable(names.file, names.variable, files).ravel()]
        if empty := next((number for number, cell in enumerate(cells, start=1) if not cell.size), None):
            raise CorruptData(
                f"name {empty} of variable '{names.variable}' is empty", where=names.file, todo=_ANOTHER
            )
        return tuple(str(cell[0]) for cell in cells)
    try:
        with _path(names.file, files).open(encoding=names.encoding, newline="") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        todo = "name its encoding in the manifest, or restore the original file"
        raise CorruptData(f"names can't be read: {error}", where=names.file, todo=todo) from None
    if not rows:
        raise CorruptData("the file is empty", where=names.file, todo="restore the original file")
    return tuple(rows[0][1:]) if names.axis == "columns" else tuple(row[0] for row in rows[1:])


def _feature_names(features: npt.NDArray[np.float64], ids: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a similarity matrix are the entities themselves."""
    if features.shape[1] == len(ids):
        return ids
    return tuple(f"feature{number}" for number in range(1, features.shape[1] + 1))
