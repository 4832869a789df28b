"""Drugs and targets of one's own beside those of a dataset: in no pair, and marked, so that they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from harness.base.errors import UsageError
from harness.benchmarks.dti.dataset import MEMBER, NEW_NODES, DtiDataset, Numbers
from harness.benchmarks.dti.molecules import is_molecule
from harness.benchmarks.new_item import NewItem

_KINDS = {"drug": "structure (SMILES)", "target": "sequence (amino acids in one-letter code)"}


def with_new(dataset: DtiDataset, items: Sequence[NewItem]) -> DtiDataset:
    """The dataset with further drugs and targets behind its own; similar to none of them."""
    if NEW_NODES in dataset.group_names:
        what = "items were added to this dataset already"
        raise UsageError(what, where=dataset.name, todo="add all to the one it extends")
    names = {"", *(name.lower() for name in (*dataset.drug_ids, *dataset.target_ids))}
    for item in items:
        _check(item, names)
        names.add(item.name.lower())
    drugs, targets = ([item for item in items if item.kind == kind] for kind in _KINDS)
    first = dataset.drugs + len(drugs) + dataset.targets
    own = [*range(dataset.drugs, dataset.drugs + len(drugs)), *range(first, first + len(targets))]
    number = np.setdiff1d(np.arange(dataset.nodes + len(own), dtype=np.int32), own)
    edges, members = dataset.edges.copy(), dataset.group_members.copy()
    edges[:, 1:], members[:, 2] = number[edges[:, 1:]], number[members[:, 2]]
    marks = [(len(dataset.group_names), MEMBER, node) for node in own]
    return replace(
        dataset,
        drug_ids=(*dataset.drug_ids, *(drug.name for drug in drugs)),
        target_ids=(*dataset.target_ids, *(target.name for target in targets)),
        smiles=(*dataset.smiles, *(drug.text for drug in drugs)),
        sequences=(*dataset.sequences, *(target.text.upper() for target in targets)),
        edges=edges,
        drug_similarity=_larger(dataset.drug_similarity, len(drugs)),
        target_similarity=_larger(dataset.target_similarity, len(targets)),
        group_names=(*dataset.group_names, NEW_NODES),
        group_sizes=np.append(dataset.group_sizes, len(own)).astype(np.int32),
        group_members=np.concatenate([members, np.array(marks, dtype=np.int32)]),
        remarks=(),
    )


def _check(item: NewItem, names: set[str]) -> None:
    """Raise `UsageError` for an item that can't be added."""
    where = f"--new {item.kind} {item.name}"
    if item.kind not in _KINDS:
        raise UsageError(f"'{item.kind}' is no kind of item", where=where, todo=f"name one of {', '.join(_KINDS)}")
    if item.name.lower() in names:
        raise UsageError(f"there is a '{item.name}' already", where=where, todo="give it another name")
    good = is_molecule(item.text) if item.kind == "drug" else item.text.isascii() and item.text.isalpha()
    if not good:
        raise UsageError(f"'{item.text[:40]}' is no {_KINDS[item.kind]}", where=where, todo="correct it")


def _larger(similarity: Numbers, more: int) -> Numbers:
    return np.asarray(block_diag(similarity, np.eye(more)) if len(similarity) else similarity)
