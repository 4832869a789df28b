"""The inputs of a method: labelled items to train and to validate on, pairs to score, facts about drugs.

The label of a test item never leaves the harness, nor does the number of types that a test pair has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from harness.base.errors import UsageError
from harness.base.input_files import Given
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.metrics.pairs import asked_pairs
from harness.benchmarks.ddi.splits.parts import TRAIN, VALID, PartSplit

_DECLARED: dict[str, Callable[[DdiDataset], Given]] = {
    "fingerprints": lambda dataset: dataset.fingerprints,
    "knowledge": lambda dataset: dataset.knowledge,
    "smiles": lambda dataset: dataset.smiles,
    "drug_names": lambda dataset: dataset.drug_names,
    "drug_texts": lambda dataset: dataset.drug_texts,
    "graph_texts": lambda dataset: dataset.graph_texts,
    "type_names": lambda dataset: dataset.type_names,
}


def inputs_of(dataset: DdiDataset, split: PartSplit, names: Sequence[str]) -> dict[str, Given]:
    """The inputs of every method, and those that this one declares."""
    inputs = _items(dataset, split)
    for name in names:
        if name in _DECLARED:
            inputs[name] = _DECLARED[name](dataset)
        elif name not in inputs:
            raise UsageError(
                f"no input is called '{name}'",
                where="method.toml: inputs",
                todo=f"choose among: {', '.join((*inputs, *_DECLARED))}",
            )
    return inputs


def _items(dataset: DdiDataset, split: PartSplit) -> dict[str, Given]:
    """The inputs of every method: one row per item of train and valid, one per pair of test."""
    train, questions = split.items_in(TRAIN), asked_pairs(dataset, split)
    valid = [split.items_in(part) for part in VALID]
    validation = np.concatenate(valid)
    settings = np.arange(len(VALID), dtype=np.int8)
    sizes = (dataset.drugs, dataset.types, dataset.entities, dataset.relations)
    return {
        "sizes": np.array(sizes, dtype=np.int32),
        "train_pairs": dataset.pairs[train],
        "train_labels": dataset.labels[train],
        "valid_pairs": dataset.pairs[validation],
        "valid_labels": dataset.labels[validation],
        "valid_setting": np.repeat(settings, [len(part) for part in valid]),
        "test_pairs": questions.pairs,
        "test_setting": questions.setting,
    }
