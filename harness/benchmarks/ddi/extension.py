"""Drugs of one's own beside those of a dataset: in no pair, so that all their pairs are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.benchmarks.ddi.splits.parts import DISCARDED
from harness.benchmarks.new_item import Kind, NewItem, Usual, check_name, not_readable
from harness.benchmarks.structures import is_structure

KINDS = {
    "drug": Kind("structure (SMILES)", inputs=("fingerprints", "smiles"), lists=("drug_ids", "drug_names")),
}
USUAL = Usual("mlp", ("drugbank", "synthetic_ddi"))


def with_new(dataset: DdiDataset, items: Sequence[NewItem]) -> DdiDataset:
    """The dataset with further drugs behind its own: without edges of the graph, texts, and a year."""
    names = {name.lower() for name in (*dataset.entity_names, *dataset.drug_names)}
    for item in items:
        check_name(item, names)
        if not is_structure(item.text):
            raise not_readable(item, KINDS[item.kind])
    smiles, ids = tuple(item.text for item in items), tuple(item.name for item in items)
    molecules, nothing = molecules_of(smiles, [item.where for item in items]), ("",) * len(items)
    knowledge = dataset.knowledge.copy()
    knowledge[:, :2] += np.where(knowledge[:, :2] < dataset.drugs, 0, len(items)).astype(np.int32)
    splits = len(dataset.released_names)
    roles = np.tile(np.array([DISCARDED, 0], dtype=np.int32), (len(items), splits))
    return replace(
        dataset,
        fingerprints=np.concatenate(
            [dataset.fingerprints, count_fingerprints(molecules, dataset.fingerprints.shape[1])]
        ),
        knowledge=knowledge,
        years=np.append(dataset.years, np.zeros(len(items), dtype=np.int32)),
        released=np.insert(dataset.released, dataset.drugs, roles, axis=0),
        drug_ids=(*dataset.drug_ids, *ids),
        smiles=(*dataset.smiles, *smiles),
        drug_names=(*dataset.drug_names, *ids),
        drug_texts=(*dataset.drug_texts, *nothing),
        graph_texts=(*dataset.graph_texts, *nothing),
        entity_names=(*dataset.drug_ids, *ids, *dataset.entity_names[dataset.drugs :]),
        remarks=(),
    )
