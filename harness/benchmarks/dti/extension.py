"""Drugs and targets of one's own beside those of a dataset: in no pair, and marked, so that they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from harness.base.errors import UsageError
from harness.benchmarks.dti.dataset import MEMBER, NEW_NODES, DtiDataset, Numbers
from harness.benchmarks.new_item import Kind, NewItem, Usual, check_name, not_readable
from harness.benchmarks.structures import is_structure

KINDS = {
    "drug": Kind("structure (SMILES)", inputs=("smiles",), lists=("drug_ids",), between_lines=None),
    "target": Kind("sequence (amino acids in one-letter code)", inputs=("sequences",), lists=("target_ids",)),
}
USUAL = Usual("deeppurpose", ("davis", "dti_world"))


def with_new(dataset: DtiDataset, items: Sequence[NewItem]) -> DtiDataset:
    """The dataset with further drugs and targets behind its own; similar to none of them."""
    if NEW_NODES in dataset.group_names:
        what = "items were added to this dataset already"
        raise UsageError(what, where=dataset.name, todo="add all to the one it extends")
    names = {name.lower() for name in (*dataset.drug_ids, *dataset.target_ids)}
    for item in items:
        check_name(item, names)
        is_sequence = item.text.isascii() and item.text.isalpha()
        if not (is_structure(item.text) if item.kind == "drug" else is_sequence):
            raise not_readable(item, KINDS[item.kind])
    drugs, targets = ([item for item in items if item.kind == kind] for kind in KINDS)
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


def _larger(similarity: Numbers, more: int) -> Numbers:
    return np.asarray(block_diag(similarity, np.eye(more)) if len(similarity) else similarity)
