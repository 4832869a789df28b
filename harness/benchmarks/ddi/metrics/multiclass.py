"""Metrics of one predicted type per item: F1, accuracy, Cohen's kappa. A metric without a value is its reason."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.benchmarks.ddi.names import MULTICLASS

Types = npt.NDArray[np.int64]
Value = float | str

NO_ITEM = "no item is scored in this setting"
ONE_TYPE = "truth and prediction are one and the same type throughout, which chance explains as well"


def predicted_types(scores: npt.NDArray[np.float32]) -> Types:
    """The type with the highest score, the first of equals."""
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def metrics(truth: Types, predicted: Types, types: int, *, over_truth: bool) -> dict[str, Value]:
    """All metrics.

    F1 is averaged over the types that occur in the truth, or in truth or prediction: a type that is predicted and
    never true has F1 0 in the second mean and is absent from the first.
    """
    if not len(truth):
        return dict.fromkeys(MULTICLASS, NO_ITEM)
    true, claimed = (np.bincount(one, minlength=types) for one in (truth, predicted))
    right = np.bincount(truth[truth == predicted], minlength=types)
    count, agreeing, by_chance = len(truth), int(right.sum()), int(true @ claimed)
    kept = true > 0 if over_truth else true + claimed > 0
    return {
        "F1": float((2 * right[kept] / (true + claimed)[kept]).mean()),
        "accuracy": agreeing / count,
        "kappa": (count * agreeing - by_chance) / (count**2 - by_chance) if by_chance < count**2 else ONE_TYPE,
    }


def recalls(truth: Types, predicted: Types, types: int) -> npt.NDArray[np.float64]:
    """For each type the share of its items for which it is predicted, NaN where it has none."""
    items = np.bincount(truth, minlength=types)
    right = np.bincount(truth[truth == predicted], minlength=types)
    return np.asarray(np.divide(right, items, out=np.full(types, np.nan), where=items > 0))


def lowest_types(pairs: npt.NDArray[np.int32], labels: Types, asked: npt.NDArray[np.int32]) -> Types:
    """For each asked pair the lowest of its labels; each has one."""
    drugs = 1 + int(max(pairs.max(initial=0), asked.max(initial=0)))
    keys, wanted = (one[:, 0].astype(np.int64) * drugs + one[:, 1] for one in (pairs, asked))
    order = np.lexsort((labels, keys))
    return labels[order][np.searchsorted(keys[order], wanted)]
