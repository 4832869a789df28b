"""The data of DTINet (Luo and others) as far as public: bindings, drug interactions, and texts of MPCL-DTI.

Rows and columns are those of the lists of names. Proteins that are there twice are two targets, as published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.base.errors import CorruptData
from harness.base.npy import NotNpy, read_npy
from harness.benchmarks.dti.converters.beta.records import table
from harness.benchmarks.dti.dataset import DtiDataset, Integers, Numbers
from harness.data.lines import fault, lines_of, path_of
from harness.data.manifest import DatasetManifest

_REMARK = "diseases, side effects, protein interactions and protein similarities of the paper are not public"


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DtiDataset:
    """The dataset out of the released files."""
    drugs, proteins = (_names(path_of(name, files)) for name in ("drug.txt", "protein.txt"))
    smiles = _texts(path_of("luo_drug_smiles.csv", files), "DrugBank ID", "SMILES", drugs)
    sequences = _texts(path_of("luo_protein_sequences.csv", files), "index", "sequence", proteins)
    pairs = _cells(path_of("mat_drug_protein.txt", files), len(drugs), len(proteins))
    path = path_of("mat_drug_drug.txt", files)
    interactions = _cells(path, len(drugs), len(drugs))
    if len(np.unique(np.sort(interactions, axis=1), axis=0)) * 2 != len(interactions):
        raise CorruptData("the matrix is not symmetric", where=str(path), todo="restore the original file")
    once = interactions[interactions[:, 0] < interactions[:, 1]]
    repeated = len(proteins) - len(set(proteins))
    return DtiDataset(
        name=manifest.name,
        pairs=pairs,
        values=np.ones(len(pairs)),
        drug_ids=tuple(drugs),
        target_ids=_distinct(proteins),
        smiles=smiles,
        sequences=sequences,
        edges=np.column_stack([np.zeros(len(once), dtype=np.int32), once]),
        relation_names=("drug-drug",),
        drug_similarity=_similarity(path_of("drug_similarity.npy", files), len(drugs)),
        remarks=(f"{repeated} of {len(proteins)} proteins are there twice, and are two targets", _REMARK),
    )


def _names(path: Path) -> list[str]:
    return [name for _, (name,) in lines_of(path, 1)]


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Every name, from its second time on with a number."""
    seen = Counter[str]()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(f"{name}-{seen[name]}" if seen[name] > 1 else name)
    return tuple(distinct)


def _texts(path: Path, key: str, column: str, names: Sequence[str]) -> tuple[str, ...]:
    """A text for each of the names, which the table has in the same order."""
    rows = list(table(path, (key, column)))
    for (where, row), name in zip(rows, names, strict=False):
        if row[key] != name:
            raise CorruptData(
                f"'{row[key]}' stands where '{name}' is wanted", where=where, todo="restore the file"
            )
    if len(rows) != len(names):
        raise CorruptData(f"{len(rows)} texts for {len(names)} names", where=str(path), todo="restore the file")
    return tuple(row[column] for _, row in rows)


def _cells(path: Path, rows: int, columns: int) -> Integers:
    """Row and column of every 1 in a matrix of 0 and 1."""
    lines = list(lines_of(path, columns))
    if len(lines) != rows:
        raise CorruptData(
            f"{len(lines)} rows instead of {rows}", where=str(path), todo="restore the original file"
        )
    for number, (_, words) in enumerate(lines, start=1):
        if not set(words) <= {"0", "1"}:
            raise fault(path, number, "a cell is neither 0 nor 1")
    return np.argwhere(np.array([words for _, words in lines]) == "1").astype(np.int32)


def _similarity(path: Path, count: int) -> Numbers:
    try:
        return read_npy(path, "<f8", (count, count))
    except NotNpy as error:
        raise CorruptData(f"the matrix {error}", where=str(path), todo="restore the original file") from None
