"""Affinities as GraphDTA releases them: structures and sequences by name, a matrix, and folds of its cells.

A pair is a cell with a number, row by row; folds count these. The test part is -1, training folds are 0 to 4.

The matrix is a pickle of Python 2, and a pickle can run any program: so no class that it names is ever called.
What numpy pickled is taken apart; records of their state stand in for its classes, other names are refused.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.records import damaged
from harness.data.lines import json_in, path_of, table_in
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

DRUGS, TARGETS, AFFINITIES = "ligands_can.txt", "proteins.txt", "Y"
TEST, TRAIN = "test_fold_setting1.txt", "train_fold_setting1.txt"
_NOWHERE, _DIGITS = -2, 12
# numpy's data types of numbers, as its pickles write them
_NUMBERS = {b"f8": "f8", b"f4": "f4"}
# what the reader raises over bytes that are no pickle, and `_matrix` over one of something else
_FAULTS = (pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError)


class Parameters(Strict):
    """What the numbers are."""

    # dissociation constants in nanomolar become -log10 of molar
    constants: bool = False


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DtiDataset:
    """The dataset out of the released files."""
    smiles, sequences = (_texts(name, files) for name in (DRUGS, TARGETS))
    path = path_of(AFFINITIES, files)
    matrix = read_matrix(path)
    if matrix.shape != (len(smiles), len(sequences)):
        counts = f"{len(smiles)} drugs and {len(sequences)} targets"
        raise damaged(f"a matrix of shape {matrix.shape} for {counts}", path)
    pairs = np.argwhere(~np.isnan(matrix))
    values = matrix[~np.isnan(matrix)]
    if parameters_of(manifest, Parameters).constants:
        if not (values > 0).all():
            raise damaged("a dissociation constant is not above 0", path)
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
        raise damaged(f"'{odd[0]}' has no text", files[name])
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
                    raise damaged(f"{cell!r} is no cell of the {count}, or is in a fold already", path)
                parts[cell] = part
    if left := int((parts == _NOWHERE).sum()):
        raise damaged(f"{left} cells are in no fold", path)
    return parts


def _list(content: Any, path: Path) -> list[Any]:
    if not isinstance(content, list):
        raise damaged("not a list of folds", path)
    return content


class _State:
    """The arguments and the state of a numpy array, which is never made."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = ()

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Type(_State):
    """The same of a numpy data type."""


class _Reader(pickle.Unpickler):
    """Only names of numpy's arrays have a meaning."""

    def find_class(self, module: str, name: str) -> Any:
        stand_ins = {"_reconstruct": _State, "ndarray": "ndarray", "dtype": _Type}
        if module not in ("numpy", "numpy.core.multiarray") or name not in stand_ins:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which is no part of a numpy array")
        return stand_ins[name]


def read_matrix(path: Path) -> npt.NDArray[np.float64]:
    """The one matrix of numbers in a pickle, or `CorruptData`."""
    try:
        with path.open("rb") as stream:
            return _matrix(_Reader(stream, encoding="bytes").load())
    except _FAULTS as error:
        raise damaged(f"not a pickled matrix of numbers: {error}", path) from None


def _matrix(content: Any) -> npt.NDArray[np.float64]:
    _, (rows, columns), kind, by_columns, data = content.state
    (name, *_), order = kind.arguments, kind.state[1]
    if type(content) is not _State or type(kind) is not _Type:
        raise ValueError("it holds something else")
    numbers = np.frombuffer(data, dtype=order.decode() + _NUMBERS[name])
    return numbers.reshape((rows, columns), order="F" if by_columns else "C").astype(np.float64)
