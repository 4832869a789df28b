"""Metrics of pairs that bind or do not, all pairs together.

Only the scores of bindings matter as thresholds: between two of them nothing is gained. So negatives are counted
at these, chunk by chunk: what is needed at a time does not grow with the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]

CHUNK = 1 << 20
CUT = 0.5


@dataclass(frozen=True)
class ThresholdCounts:
    """At each distinct score of a binding, from the highest: how many score at least as much, and just more."""

    thresholds: Numbers
    hits: Numbers
    alarms: Numbers
    # negatives that score strictly more than the threshold
    alarms_above: Numbers
    positives: int
    negatives: int


def threshold_counts(truth: Truth, scores: Numbers) -> ThresholdCounts:
    """Bindings and negatives at every threshold where a binding is."""
    rising, counts = np.unique(scores[truth], return_counts=True)
    alarms, above = (np.zeros(len(rising), dtype=np.int64) for _ in range(2))
    for start in range(0, len(scores), CHUNK):
        rows = slice(start, start + CHUNK)
        negatives = np.sort(scores[rows][~truth[rows]])
        alarms += len(negatives) - np.searchsorted(negatives, rising, side="left")
        above += len(negatives) - np.searchsorted(negatives, rising, side="right")
    positives = int(truth.sum())
    return ThresholdCounts(
        thresholds=rising[::-1],
        hits=np.cumsum(counts[::-1]).astype(np.float64),
        alarms=alarms[::-1].astype(np.float64),
        alarms_above=above[::-1].astype(np.float64),
        positives=positives,
        negatives=len(truth) - positives,
    )


def binding_metrics(truth: Truth, scores: Numbers) -> dict[str, float | str]:
    """Metrics by name, or the reason why one is undefined."""
    at_half = _at_half(truth, scores)
    if truth.all() or not truth.any():
        names = ("AUROC", "AUPR", "AUPR/trapezoid", "best F1", "general score", "general score/best F1")
        reason = "every test pair binds" if truth.any() else "no test pair binds"
        return {**dict.fromkeys(names, reason), **at_half}
    curve = threshold_counts(truth, scores)
    auroc, aupr, best = area_under_roc(curve), average_precision(curve), best_f1(curve)[0]
    return {
        "AUROC": auroc,
        "AUPR": aupr,
        "AUPR/trapezoid": trapezoid(curve),
        "best F1": best,
        "general score": (auroc + aupr + at_half["F1"]) / 3,
        "general score/best F1": (auroc + aupr + best) / 3,
        **at_half,
    }


def area_under_roc(curve: ThresholdCounts) -> float:
    """The share of pairs of a binding and a negative in the right order; ties count one half."""
    hits = np.diff(curve.hits, prepend=0.0)
    wrong = (curve.alarms + curve.alarms_above) / 2
    return float(1 - (hits @ wrong) / (curve.positives * curve.negatives))


def average_precision(curve: ThresholdCounts) -> float:
    """The mean of the precision at every binding, tied scores taken together."""
    precision = curve.hits / (curve.hits + curve.alarms)
    return float(np.diff(curve.hits, prepend=0.0) @ precision / curve.positives)


def trapezoid(curve: ThresholdCounts) -> float:
    """The area under straight lines between the points of the precision-recall curve, which begins at (0, 1)."""
    before = np.concatenate([[0.0], curve.hits[:-1]])
    # the point left of a threshold: the same bindings, and all negatives that score more than it
    total = before + curve.alarms_above
    left = np.divide(before, total, out=np.ones_like(total), where=total > 0)
    right = curve.hits / (curve.hits + curve.alarms)
    return float(np.diff(curve.hits, prepend=0.0) @ (left + right) / 2 / curve.positives)


def best_f1(curve: ThresholdCounts) -> tuple[float, float]:
    """The highest F1 of any threshold, and the lowest threshold that has it."""
    scores = 2 * curve.hits / (curve.hits + curve.alarms + curve.positives)
    place = len(scores) - 1 - int(np.argmax(scores[::-1]))
    return float(scores[place]), float(curve.thresholds[place])


def _at_half(truth: Truth, scores: Numbers) -> dict[str, float]:
    """Precision, recall and F1 of the pairs scored one half or more; 0 where nothing can be divided."""
    predicted = scores >= CUT
    hits, asked, positives = int((predicted & truth).sum()), int(predicted.sum()), int(truth.sum())
    return {
        "precision": hits / asked if asked else 0.0,
        "recall": hits / positives if positives else 0.0,
        "F1": 2 * hits / (asked + positives) if asked + positives else 0.0,
    }
