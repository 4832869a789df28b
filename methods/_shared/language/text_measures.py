"""What chooses an epoch: accuracy, or the mean ROC-AUC over types. Scores of the test are never computed here."""

from __future__ import annotations

import numpy as np
from ddi_sdk import Array


def accuracy(scores: Array, labels: Array) -> float:
    """The share of rows whose type has the highest score."""
    return float((scores.argmax(axis=1) == labels).mean())


def roc_auc(scores: Array, labels: Array) -> float:
    """Mean over the types that have both kinds of lines; not a number where none has."""
    found = [_of_one_type(scores[:, one], labels[:, one]) for one in range(labels.shape[1])]
    kept = [value for value in found if value is not None]
    return float(np.mean(kept)) if kept else float("nan")


def _of_one_type(scores: Array, labels: Array) -> float | None:
    said = labels != 0
    values, positive = scores[said], labels[said] > 0
    count, others = int(positive.sum()), int((~positive).sum())
    if not count or not others:
        return None
    _, places, repeats = np.unique(values, return_inverse=True, return_counts=True)
    # equal scores share the mean of their ranks
    ranks = (np.cumsum(repeats) - (repeats - 1) / 2)[places]
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * others))
