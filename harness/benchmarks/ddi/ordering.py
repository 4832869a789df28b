"""Drugs, entities and items in another order: every number of a drug is another one, every list is shuffled."""

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
    moved = dict(inputs)
    for name in _OF_DRUGS:
        if name in moved:
            moved[name] = _rows(moved[name], drugs)
    if "knowledge" in moved:
        edges = np.array(moved["knowledge"])
        edges[:, :2] = number[edges[:, :2]]
        moved["knowledge"] = edges[permutation(order, "edges", len(edges))]
    for part in ("train", "valid"):
        rows = permutation(order, part, len(moved[f"{part}_pairs"]))
        if part == "valid":
            # items to choose by come by rising setting
            rows = rows[np.argsort(np.asarray(moved["valid_setting"])[rows], kind="stable")]
            moved["valid_setting"] = _rows(moved["valid_setting"], rows)
        moved[f"{part}_labels"] = _rows(moved[f"{part}_labels"], rows)
        moved[f"{part}_pairs"] = _renumbered(_rows(moved[f"{part}_pairs"], rows), number)
    pairs, setting = _renumbered(moved["test_pairs"], number), np.asarray(moved["test_setting"])
    asked = np.lexsort((pairs[:, 1], pairs[:, 0], setting))
    moved["test_pairs"], moved["test_setting"] = pairs[asked], setting[asked]
    published = places_of(asked)
    return Arrangement(moved, {"predictions.npy": lambda scores: scores[published]})


def _rows(given: Given, rows: Integers) -> Given:
    return np.asarray(given[rows]) if isinstance(given, np.ndarray) else tuple(given[row] for row in rows)


def _renumbered(pairs: Given, number: Integers) -> Array:
    pairs = np.asarray(pairs)
    return number[pairs].astype(pairs.dtype)
