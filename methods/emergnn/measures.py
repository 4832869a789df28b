"""What a model is chosen by, and what the published code prints beside it."""

from __future__ import annotations

import numpy as np
from ddi_sdk import Array


def of_types(truth: Array, found: Array) -> tuple[float, float, float]:
    """Macro F1 over the types that occur in either list, accuracy, and Cohen's kappa (0 where it is undefined)."""
    types, places = np.unique(np.concatenate([truth, found]), return_inverse=True)
    one, other = places[: len(truth)], places[len(truth) :]
    right = np.bincount(one[one == other], minlength=len(types))
    true, said = (np.bincount(some, minlength=len(types)) for some in (one, other))
    accuracy, chance = right.sum() / len(truth), true @ said / len(truth) ** 2
    kappa = (accuracy - chance) / (1 - chance) if chance < 1 else 0.0
    return float((2 * right / (true + said)).mean()), float(accuracy), float(kappa)


def of_lines(labels: Array, scores: Array) -> tuple[float, float, float]:
    """Means of ROC-AUC, average precision and precision at half over the types with both kinds of lines.

    For the precision at half, positives come first where scores tie.
    """
    found = []
    for said, score in zip(labels.T, scores.T, strict=True):
        ours, others = score[said > 0], score[said < 0]
        if len(ours) and len(others):
            found.append(_of_type(ours, others))
    return tuple(np.mean(found, axis=0).tolist()) if found else (0.0, 0.0, 0.0)


def _of_type(ours: Array, others: Array) -> tuple[float, float, float]:
    scores = np.concatenate([ours, others])
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(order < len(ours))
    # a threshold lies behind each run of equal scores
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    taken, right = last + 1, hits[last]
    gained, wrong = np.diff(right, prepend=0), np.diff(taken - right, prepend=0)
    area = wrong @ (right - gained / 2) / (len(ours) * len(others))
    half = len(scores) // 2
    return area, gained @ (right / taken) / len(ours), hits[half - 1] / half
