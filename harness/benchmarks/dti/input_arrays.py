"""The inputs of a method: pairs to train on with their values, pairs to score, facts about drugs and targets.

The value of a test pair never leaves the harness; no edge of the network joins a drug and a target.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.base.errors import MissingData, unknown
from harness.base.input_files import Given
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.names import FACTS, INPUTS
from harness.benchmarks.dti.splits.pairs import PairSplit


def inputs_of(dataset: DtiDataset, split: PairSplit, names: Sequence[str]) -> dict[str, Given]:
    """The inputs of every method, and those that this one declares."""
    sizes = (dataset.drugs, dataset.targets, dataset.nodes, dataset.affinity)
    inputs: dict[str, Given] = {
        "sizes": np.array(sizes, dtype=np.int32),
        "train_pairs": split.train_pairs,
        "train_values": split.values_on(dataset)[split.is_train],
        "test_pairs": split.test_pairs,
    }
    for name in names:
        if name in FACTS:
            _check_texts(dataset, split, name)
            inputs[name] = getattr(dataset, name)
        elif name not in inputs:
            raise unknown("input", name, INPUTS, where="method.toml: inputs")
    if {"edges", "relation_names"} & set(names) and not len(dataset.edges):
        raise MissingData(
            "the dataset has no network, which the method needs",
            where=f"dataset {dataset.name}",
            todo="run it on a dataset with edges",
        )
    return inputs


def _check_texts(dataset: DtiDataset, split: PairSplit, name: str) -> None:
    """Raise `MissingData` if a drug or target that is asked about or learned from has no text."""
    for fact, column, kind, text, ids, texts in (
        ("smiles", 1, "drug", "structure", dataset.drug_ids, dataset.smiles),
        ("sequences", 2, "target", "sequence", dataset.target_ids, dataset.sequences),
    ):
        lacking = [node for node in np.unique(split.rows[:, column]).tolist() if not texts[node]]
        if name == fact and lacking:
            raise MissingData(
                f"{len(lacking)} {kind}s of the task have no {text}, '{ids[lacking[0]]}' for one",
                where=f"dataset {dataset.name}",
                todo=f"give every {kind} its {text}: docs/data.md says how",
            )
