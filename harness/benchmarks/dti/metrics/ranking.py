"""Metrics of the best targets of every drug: precision, recall and F1 at k, and average precision at k."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.benchmarks.dti.names import DEPTHS, MAP_READINGS, RANKING

Numbers = npt.NDArray[np.float64]


def ranking_metrics(
    truth: npt.NDArray[np.bool_], scores: Numbers, queries: npt.NDArray[np.integer]
) -> dict[str, float | str]:
    """Means over the queries that have a positive; `queries` says to which each row belongs."""
    order = np.lexsort((np.arange(len(scores)), -scores, queries))
    _, starts = np.unique(queries[order], return_index=True)
    lists = [rows for rows in np.split(truth[order], starts[1:]) if rows.any()]
    if not lists:
        return dict.fromkeys((metric.name for metric in RANKING), "no test pair binds")
    values: dict[str, float | str] = {}
    for depth in DEPTHS:
        shares = np.array([precision_recall_f1(rows, depth) for rows in lists]).mean(axis=0)
        precisions = np.array([average_precision_at(rows, depth) for rows in lists]).mean(axis=0)
        for name, share in zip(("precision", "recall", "F1"), shares.tolist(), strict=True):
            values[f"{name}@{depth}"] = share
        for reading, mean in zip(MAP_READINGS, precisions.tolist(), strict=True):
            values[f"MAP@{depth}/{reading}"] = mean
    return values


def precision_recall_f1(truth: npt.NDArray[np.bool_], depth: int) -> tuple[float, float, float]:
    """Of one list, best first; precision is divided by k also where the list is shorter."""
    hits, positives = int(truth[:depth].sum()), int(truth.sum())
    precision, recall = hits / depth, hits / positives if positives else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


def average_precision_at(truth: npt.NDArray[np.bool_], depth: int) -> tuple[float, float, float]:
    """The sum of precisions at each positive of the first k, in the three readings of what it is divided by."""
    top = truth[:depth]
    hits, positives = int(top.sum()), int(truth.sum())
    if not hits:
        return 0.0, 0.0, 0.0
    total = float((np.cumsum(top) / np.arange(1, len(top) + 1))[top].sum())
    return total / min(depth, positives), total / positives, total / hits
