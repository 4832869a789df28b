"""Affinities as GraphDTA releases them: structures and sequences by name, a matrix, and folds of its cells.

A pair is a cell with a number, row by row; folds count these. The test part is -1, training folds are 0 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.base.manifests import Strict
from harness.benchmarks.dti.converters.graphdta.pickles import read_matrix
from harness.benchmarks.dti.dataset import DtiDataset
from harness.data.lines import json_in, path_of, table_in
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

DRUGS, TARGETS, AFFINITIES = "ligands_can.txt", "proteins.txt", "Y"
TEST, TRAIN = "test_fold_setting1.txt", "train_fold_setting1.txt"
_NOWHERE, _DIGITS = -2, 12


class Parameters(Strict):
    """What the numbers are."""

    # dissociation constants in nanomolar become -log10 of molar
    constants: bool = False


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DtiDataset:
    """The dataset out of the released files."""
    parameters = parameters_of(manifest, Parameters)
    smiles, sequences = (_texts(name, files) for name in (DRUGS, TARGETS))
    path = path_of(AFFINITIES, files)
    matrix = read_matrix(path)
    if matrix.shape != (len(smiles), len(sequences)):
        raise CorruptData(
            f"a matrix of shape {matrix.shape} for {len(smiles)} drugs and {len(sequences)} targets",
            where=str(path),
            todo="restore the original file",
        )
    pairs = np.argwhere(~np.isnan(matrix))
    values = matrix[~np.isnan(matrix)]
    if parameters.constants:
        if not (values > 0).all():
            raise CorruptData("a dissociation constant is not above 0", where=str(path))
        # libraries of mathematics may differ in the last digit, and the digest must not
        values = (-np.log10(values / 1e9)).round(_DIGITS)
    return DtiDataset(
        name=manifest.name,
        pairs=pairs.astype(np.int32),
        values=values,
        drug_ids=tuple(smiles),
        target_ids=tuple(sequences),
        smiles=tuple(smiles.values()),
        sequences=tuple(sequences.values()),
        released=_parts(files, len(pairs)),
    )


def _texts(name: str, files: Mapping[str, Path]) -> dict[str, str]:
    content = table_in(name, files)
    if odd := [key for key, text in content.items() if not (isinstance(text, str) and text)]:
        raise CorruptData(f"'{odd[0]}' has no text", where=str(files[name]), todo="restore the original file")
    return {key: str(text) for key, text in content.items()}


def _parts(files: Mapping[str, Path], count: int) -> npt.NDArray[np.int8]:
    """The part of every cell; each is in exactly one."""
    parts = np.full(count, _NOWHERE, dtype=np.int8)
    for name in (TEST, TRAIN):
        path = path_of(name, files)
        folds = json_in(path)
        for part, cells in enumerate([folds], start=-1) if name == TEST else enumerate(_list(folds, path)):
            for cell in _list(cells, path):
                if type(cell) is not int or not 0 <= cell < count or parts[cell] != _NOWHERE:
                    what = f"{cell!r} is no cell of the {count}, or is in a fold already"
                    raise CorruptData(what, where=str(path), todo="restore the original file")
                parts[cell] = part
    if left := int((parts == _NOWHERE).sum()):
        raise CorruptData(f"{left} cells are in no fold", where=str(path), todo="restore the original file")
    return parts


def _list(content: Any, path: Path) -> list[Any]:
    if not isinstance(content, list):
        raise CorruptData("not a list of folds", where=str(path), todo="restore the original file")
    return content
