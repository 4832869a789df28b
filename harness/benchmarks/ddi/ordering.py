"""Inputs in another order: drugs and entities have other numbers, and every list is shuffled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.base.input_files import Array, Given
from harness.benchmarks.order import Arrangement, Integers, permutation, places_of

_OF_DRUGS = ("fingerprints", "smiles", "drug_names", "drug_texts", "graph_texts")


def in_order(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """The same problem, its drugs, entities and items in the order of a secret."""
    drug_count, _, entity_count, _ = (int(size) for size in inputs["sizes"])
    drugs = permutation(order, "drugs", drug_count)
    entities = drug_count + permutation(order, "entities", entity_count - drug_count)
    number = places_of(np.concatenate([drugs, entities]))
    reordered = dict(inputs)
    for name in _OF_DRUGS:
        if name in reordered:
            reordered[name] = _rows(reordered[name], drugs)
    if "knowledge" in reordered:
        edges = np.array(reordered["knowledge"])
        edges[:, :2] = number[edges[:, :2]]
        reordered["knowledge"] = edges[permutation(order, "edges", len(edges))]
    for part in ("train", "valid"):
        rows = permutation(order, part, len(reordered[f"{part}_pairs"]))
        if part == "valid":
            # items to choose by come by rising setting
            rows = rows[np.argsort(np.asarray(reordered["valid_setting"])[rows], kind="stable")]
            reordered["valid_setting"] = _rows(reordered["valid_setting"], rows)
        reordered[f"{part}_labels"] = _rows(reordered[f"{part}_labels"], rows)
        reordered[f"{part}_pairs"] = _new_numbers(_rows(reordered[f"{part}_pairs"], rows), number)
    pairs, setting = _new_numbers(reordered["test_pairs"], number), np.asarray(reordered["test_setting"])
    rank = np.lexsort((pairs[:, 1], pairs[:, 0], setting))
    reordered["test_pairs"], reordered["test_setting"] = pairs[rank], setting[rank]
    published = places_of(rank)
    return Arrangement(reordered, {"predictions.npy": lambda scores: scores[published]})


def _rows(values: Given, rows: Integers) -> Given:
    return np.asarray(values[rows]) if isinstance(values, np.ndarray) else tuple(values[row] for row in rows)


def _new_numbers(pairs: Given, number: Integers) -> Array:
    pairs = np.asarray(pairs)
    return number[pairs].astype(pairs.dtype)
