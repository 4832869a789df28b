"""What items say: which pair has which types, and which of the training lines contradict each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from ddi_sdk import Array, Problem


def facts(pairs: Array, labels: Array) -> Array:
    """Triplets (head, tail, type), one per type that an item says its pair has."""
    if labels.ndim == 1:
        return np.column_stack([pairs, labels]).astype(np.int64)
    lines, types = np.nonzero(labels > 0)
    return np.column_stack([pairs[lines], types]).astype(np.int64)


def types_of_pairs(pairs: Array, labels: Array, types: int) -> tuple[Array, Array]:
    """Distinct ordered pairs, and a row of types for each, ascending and filled up with the number of types."""
    order = np.lexsort((labels, pairs[:, 1], pairs[:, 0]))
    pairs, labels = pairs[order], labels[order]
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    rows = np.cumsum(new) - 1
    places = np.arange(len(pairs)) - starts[rows]
    padded = np.full((len(starts), int(places.max(initial=0)) + 1), types, dtype=np.int64)
    padded[rows, places] = labels
    return pairs[starts], padded


def cleaned(problem: Problem) -> Problem:
    """What to learn from: the problem, without contradictions where the variant wants clean negatives."""
    return without_contradictions(problem) if problem.parameters["clean_negatives"] else problem


def without_contradictions(problem: Problem) -> Problem:
    """Multilabel: a training line is no negative of a type that a training line says its pair has, in any order.

    Other problems stay as they are.
    """
    if not problem.multilabel:
        return problem
    low, high = np.sort(problem.train.pairs, axis=1).astype(np.int64).T
    pairs, places = np.unique(low * problem.drugs + high, return_inverse=True)
    has = np.zeros((len(pairs), problem.types), dtype=bool)
    rows, types = np.nonzero(problem.train.labels > 0)
    has[places[rows], types] = True
    labels = problem.train.labels.copy()
    labels[(labels < 0) & has[places]] = 0
    return replace(problem, train=replace(problem.train, labels=labels))
