"""The data of DTINet (Luo and others) as far as public: bindings, drug interactions, and texts of MPCL-DTI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.base.npy import NotNpy, read_npy
from harness.benchmarks.dti.dataset import DtiDataset, Integers
from harness.benchmarks.dti.records import damaged, table
from harness.data.lines import lines_of, path_of
from harness.data.manifest import DatasetManifest

_LISTS = ("drug.txt", "protein.txt")
_REMARK = "diseases, side effects, protein interactions and protein similarities of the paper are not public"


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DtiDataset:
    """The dataset out of the released files."""
    drugs, proteins = ([name for _, (name,) in lines_of(path_of(names, files), 1)] for names in _LISTS)
    times = [proteins[:end].count(name) for end, name in enumerate(proteins, start=1)]
    # a name has a number from its second time on
    targets = (f"{name}-{time}" if time > 1 else name for name, time in zip(proteins, times, strict=True))
    pairs = _cells(path_of("mat_drug_protein.txt", files), len(drugs), len(proteins))
    path = path_of("mat_drug_drug.txt", files)
    interactions = _cells(path, len(drugs), len(drugs))
    once = interactions[interactions[:, 0] < interactions[:, 1]]
    if len(np.unique(np.sort(interactions, axis=1), axis=0)) * 2 != len(interactions):
        raise damaged("the matrix is not symmetric", path)
    path = path_of("drug_similarity.npy", files)
    try:
        similarity = read_npy(path, "<f8", (len(drugs), len(drugs)))
    except NotNpy as error:
        raise damaged(f"the matrix {error}", path) from None
    repeated = len(proteins) - len(set(proteins))
    return DtiDataset(
        name=manifest.name,
        pairs=pairs,
        values=np.ones(len(pairs)),
        drug_ids=tuple(drugs),
        target_ids=tuple(targets),
        smiles=_texts(path_of("luo_drug_smiles.csv", files), "DrugBank ID", "SMILES", drugs),
        sequences=_texts(path_of("luo_protein_sequences.csv", files), "index", "sequence", proteins),
        edges=np.column_stack([np.zeros(len(once), dtype=np.int32), once]),
        relation_names=("drug-drug",),
        drug_similarity=similarity,
        remarks=(f"{repeated} of {len(proteins)} proteins are there twice, and are two targets", _REMARK),
    )


def _texts(path: Path, key: str, column: str, names: Sequence[str]) -> tuple[str, ...]:
    """A text for each of the names, which the table has in the same order."""
    rows = list(table(path, (key, column)))
    for (where, row), name in zip(rows, names, strict=False):
        if row[key] != name:
            raise damaged(f"'{row[key]}' stands where '{name}' is wanted", where)
    if len(rows) != len(names):
        raise damaged(f"{len(rows)} texts for {len(names)} names", path)
    return tuple(row[column] for _, row in rows)


def _cells(path: Path, rows: int, columns: int) -> Integers:
    """Row and column of every 1 in a matrix of 0 and 1."""
    lines = list(lines_of(path, columns))
    if len(lines) != rows:
        raise damaged(f"{len(lines)} rows instead of {rows}", path)
    for where, words in lines:
        if not set(words) <= {"0", "1"}:
            raise damaged("a cell is neither 0 nor 1", where)
    return np.argwhere(np.array([words for _, words in lines]) == "1").astype(np.int32)
