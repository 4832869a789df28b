"""Golden metrics of `ddi`: logits and labels as the published trainer had them, and its own metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.ddi.metrics import multiclass, multilabel
from harness.benchmarks.ddi.metrics.multiclass import Value
from harness.benchmarks.ddi.metrics.multilabel import by_type
from harness.methods.card import Tolerance
from harness.parity.finding import ArrayFinding, Standing, compare

Array = npt.NDArray[Any]

_CLOSE = Tolerance(absolute=1e-12)
# by what share exponentials of single precision differ between libraries
_APART = 3e-7
_LOGITS, _ONE_TYPE, _SEVERAL_TYPES = "in/logits", "in/label_multihot", "in/label"
# what the golden calls it -> what the harness does
_NAMES = {
    _ONE_TYPE: {"f1_macro": "F1", "accuracy": "accuracy", "kappa": "kappa"},
    _SEVERAL_TYPES: {"roc_auc": "ROC-AUC", "pr_auc": "PR-AUC", "accuracy": "accuracy"},
}


def check_metrics(arrays: Mapping[str, Array]) -> Iterator[ArrayFinding]:
    """One finding per metric."""
    kind = next((name for name in _NAMES if name in arrays), "")
    if not kind or _LOGITS not in arrays:
        yield ArrayFinding("in/", Standing.FAILED, note="logits or labels are missing")
        return
    score = _one_type if kind == _ONE_TYPE else _several_types
    metrics = score(arrays[_LOGITS], arrays[kind])
    close = _CLOSE if kind == _ONE_TYPE else _allowed(arrays[_LOGITS], arrays[kind])
    for name, ours in _NAMES[kind].items():
        if (golden := arrays.get(f"out/{name}")) is None:
            yield ArrayFinding(name, Standing.ABSENT, note="not in the golden")
            continue
        value = metrics[ours]
        value = np.nan if isinstance(value, str) else value
        yield compare(name, np.asarray(value), golden, _CLOSE if ours == "accuracy" else close)


def _one_type(logits: Array, label: Array) -> dict[str, Value]:
    """The label marks every type of the pair: the first, the lowest, counts."""
    truth = np.asarray(label.argmax(axis=1), dtype=np.int64)
    return multiclass.metrics(truth, multiclass.predicted_types(logits), logits.shape[1], over_truth=False)


def _several_types(logits: Array, label: Array) -> dict[str, Value]:
    """The label marks the types that the pair says anything of, then whether it is a positive of them."""
    return multilabel.as_published(by_type(_signs(label), _probabilities(logits)), empty_is_zero=True)


def _signs(label: Array) -> npt.NDArray[np.int8]:
    mentions, positive = label[:, :-1] == 1, label[:, -1:] == 1
    return np.where(mentions, np.where(positive, 1, -1), 0).astype(np.int8)


def _probabilities(logits: Array) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float32)


def _allowed(logits: Array, label: Array) -> Tolerance:
    """How far means over types may be apart: pairs with nearly the same logit may tie in one library and not in
    another, which changes a type's metric by half the share of one positive at most.
    """
    signs, sums = _signs(label), 0.0
    for said, logit in zip(signs.T, logits.T, strict=True):
        positives = int((said > 0).sum())
        values, counts = np.unique(logit[said != 0], return_counts=True)
        with np.errstate(over="ignore"):
            odds = np.exp(-values)
            low, high = (1 / (1 + odds * logit.dtype.type(1 + sign * _APART)) for sign in (1, -1))
        unsure = (low[:-1] != high[1:]) & (high[:-1] >= low[1:])
        sums += float((counts[1:] * counts[:-1])[unsure].sum()) / (2 * max(positives, 1))
    return Tolerance(absolute=_CLOSE.absolute + sums / max(signs.shape[1], 1))
