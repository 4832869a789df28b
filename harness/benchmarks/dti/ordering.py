"""Inputs in another order: drugs, targets and other nodes have other numbers, and every list is shuffled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.base.input_files import Given
from harness.benchmarks.order import Arrangement, permutation, places_of


def in_order(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """The same problem in the order of a secret."""
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
    return Arrangement(new, {"scores.npy": lambda scores: scores[published]})
