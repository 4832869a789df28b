"""Metrics of the best targets of every drug: precision, recall and F1 at k, and average precision at k.

Rows are read chunk by chunk, and of each drug only its best so far are kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.benchmarks.dti.names import DEPTHS, MAP_READINGS, RANKING

Numbers = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Queries = npt.NDArray[np.integer]

_CHUNK = 1 << 21


def ranking_metrics(truth: Truth, scores: Numbers, queries: Queries) -> dict[str, float | str]:
    """Means over the queries that have a positive; `queries` says to which each row belongs."""
    hits, positives = hits_of(truth, scores, queries, max(DEPTHS))
    hits, positives = hits[positives > 0], positives[positives > 0]
    if not len(positives):
        return dict.fromkeys((metric.name for metric in RANKING), "no test pair binds")
    values: dict[str, float | str] = {}
    for depth in DEPTHS:
        shares = precision_recall_f1(hits, positives, depth).mean(axis=0)
        precisions = average_precision_at(hits, positives, depth).mean(axis=0)
        for name, share in zip(("precision", "recall", "F1"), shares.tolist(), strict=True):
            values[f"{name}@{depth}"] = share
        for reading, mean in zip(MAP_READINGS, precisions.tolist(), strict=True):
            values[f"MAP@{depth}/{reading}"] = mean
    return values


def hits_of(truth: Truth, scores: Numbers, queries: Queries, depth: int) -> tuple[Truth, npt.NDArray[np.int64]]:
    """For each query whether its best rows are positive, best first, and how many positives it has."""
    rows = best_rows(scores, queries, depth)
    numbers, lists, counts = np.unique(queries[rows], return_inverse=True, return_counts=True)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    hits = np.zeros((len(numbers), depth), dtype=np.bool_)
    hits[lists, places] = truth[rows]
    return hits, np.bincount(np.searchsorted(numbers, queries[truth]), minlength=len(numbers))


def best_rows(scores: Numbers, queries: Queries, depth: int) -> Rows:
    """The rows of each query's best scores, query by query, best first; of equal scores the first ones."""
    rows: Rows = np.empty(0, dtype=np.int64)
    for start in range(0, len(scores), _CHUNK):
        rows = np.concatenate([rows, np.arange(start, min(start + _CHUNK, len(scores)))])
        rows = rows[np.argsort(queries[rows], kind="stable")]
        rows = np.concatenate([_best_of(run, scores, depth) for run in _runs(rows, queries)])
    order: Rows = np.lexsort((-scores[rows], queries[rows]))
    return rows[order]


def _runs(rows: Rows, queries: Queries) -> list[Rows]:
    """The rows of each query, which stand together."""
    return np.split(rows, np.flatnonzero(np.diff(queries[rows])) + 1)


def _best_of(rows: Rows, scores: Numbers, depth: int) -> Rows:
    """The best of one query's rows, in their order."""
    if len(rows) <= depth:
        return rows
    own = scores[rows]
    least = np.partition(own, len(own) - depth)[len(own) - depth]
    is_best = own > least
    is_best[np.flatnonzero(own == least)[: depth - int(is_best.sum())]] = True
    best: Rows = rows[is_best]
    return best


def precision_recall_f1(hits: Truth, positives: npt.NDArray[np.int64], depth: int) -> Numbers:
    """The three of each list; precision is divided by k also where the list is shorter."""
    count = hits[:, :depth].sum(axis=1)
    # the harmonic mean of hits / k and hits / positives
    return np.column_stack([count / depth, count / np.maximum(positives, 1), 2 * count / (depth + positives)])


def average_precision_at(hits: Truth, positives: npt.NDArray[np.int64], depth: int) -> Numbers:
    """The sum of precisions at each positive of the first k, in the three readings of what it is divided by."""
    top = hits[:, :depth]
    total = (np.cumsum(top, axis=1) / np.arange(1, top.shape[1] + 1) * top).sum(axis=1)
    readings = np.minimum(depth, positives), positives, top.sum(axis=1)
    return np.column_stack([total / np.maximum(divisor, 1) for divisor in readings])
