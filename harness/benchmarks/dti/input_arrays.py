"""The inputs of a method: pairs to train on with their values, pairs to score, facts about drugs and targets.

The value of a test pair never leaves the harness; no edge of the network joins a drug and a target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.base.errors import MissingData, unknown
from harness.base.input_files import Given
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.names import FACTS, INPUTS, SCORES
from harness.benchmarks.dti.splits.pairs import PairSplit
from harness.benchmarks.order import Arrangement, permutation, places_of


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
        what = "the dataset has no network, which the method needs"
        raise MissingData(what, where=f"dataset {dataset.name}", todo="run it on a dataset with edges")
    return inputs


def _check_texts(dataset: DtiDataset, split: PairSplit, name: str) -> None:
    """Raise `MissingData` if a drug or target that is asked about or learned from has no text."""
    facts = {
        "smiles": (1, "drug", "structure", dataset.drug_ids, dataset.smiles),
        "sequences": (2, "target", "sequence", dataset.target_ids, dataset.sequences),
    }
    if name in facts:
        column, kind, text, ids, texts = facts[name]
        if lacking := [node for node in np.unique(split.rows[:, column]).tolist() if not texts[node]]:
            what = f"{len(lacking)} {kind}s of the task have no {text}, '{ids[lacking[0]]}' for one"
            todo = f"give every {kind} its {text}: docs/dti.md says how"
            raise MissingData(what, where=f"dataset {dataset.name}", todo=todo)


def in_order(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """The same problem in the order of a secret: all nodes have other numbers, and every list is shuffled."""
    drug_count, target_count, node_count = (int(size) for size in inputs["sizes"][:3])
    drugs, targets = permutation(order, "drugs", drug_count), permutation(order, "targets", target_count)
    known = drug_count + target_count
    others = known + permutation(order, "nodes", node_count - known)
    number = places_of(np.concatenate([drugs, drug_count + targets, others]))
    new = dict(inputs)
    for name, rows in (("smiles", drugs), ("sequences", targets)):
        if name in new:
            new[name] = tuple(new[name][row] for row in rows)
    for name, rows in (("drug_similarity", drugs), ("target_similarity", targets)):
        if name in new and len(new[name]):
            new[name] = np.asarray(new[name])[np.ix_(rows, rows)]
    if "edges" in new:
        edges = np.array(new["edges"])
        edges[:, 1:] = number[edges[:, 1:]]
        new["edges"] = edges[permutation(order, "edges", len(edges))]
    offset = np.array([0, drug_count])
    pairs = {part: number[np.asarray(new[f"{part}_pairs"]) + offset] - offset for part in ("train", "test")}
    rows = permutation(order, "train", len(pairs["train"]))
    new["train_pairs"] = pairs["train"][rows].astype(np.int32)
    new["train_values"] = np.asarray(new["train_values"])[rows]
    rank = np.lexsort((pairs["test"][:, 1], pairs["test"][:, 0]))
    new["test_pairs"] = pairs["test"][rank].astype(np.int32)
    published = places_of(rank)
    return Arrangement(new, {SCORES: lambda scores: scores[published]})
