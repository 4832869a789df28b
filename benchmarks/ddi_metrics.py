"""How fast the largest test sets of drug interactions are scored: the harness against scikit-learn, in one run.

Equal values are asked. DrugBank's S1 has 32,000 items of 86 types; TWOSIDES with 20,000 pairs of 209 types,
of which a pair says something of 15.

Usage: python -m benchmarks.ddi_metrics
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, cohen_kappa_score, f1_score, roc_auc_score

from harness.benchmarks.ddi.metrics import multiclass, multilabel
from harness.benchmarks.ddi.metrics.multiclass import Value

Types = npt.NDArray[np.int64]
Signs = npt.NDArray[np.int8]
Scores = npt.NDArray[np.float32]


def plain_one_type(truth: Types, scores: Scores) -> dict[str, float]:
    """As the original asks for them."""
    predicted = scores.argmax(axis=1)
    return {
        "F1": float(f1_score(truth, predicted, average="macro")),
        "accuracy": float((truth == predicted).mean()),
        "kappa": float(cohen_kappa_score(truth, predicted)),
    }


def plain_several_types(signs: Signs, scores: Scores) -> dict[str, float]:
    """One type at a time, as the original."""
    rows: list[tuple[float, float, float]] = []
    for column, values in zip(signs.T, scores.T, strict=True):
        told = column != 0
        truth, own = column[told] > 0, values[told]
        areas = float(roc_auc_score(truth, own)), float(average_precision_score(truth, own))
        rows.append((*areas, float(((own > 0.5) == truth).mean())))
    return dict(zip(("ROC-AUC", "PR-AUC", "accuracy"), np.mean(rows, axis=0).tolist(), strict=True))


def compared(name: str, ours: Callable[[], Mapping[str, Value]], plain: Callable[[], Mapping[str, float]]) -> str:
    """A line with both times; values that differ stop it."""
    started = time.process_time()
    found = ours()
    between = time.process_time()
    expected = plain()
    mine, theirs = between - started, time.process_time() - between
    apart = max(abs(float(found[metric]) - value) for metric, value in expected.items())
    assert apart < 1e-12, f"values differ by {apart}"
    return f"{name}: ours {mine:.3f} s, scikit-learn {theirs:.3f} s, {theirs / mine:.0f} times, apart {apart:.0e}"


def main() -> None:
    """Print a line per kind of data."""
    warnings.simplefilter("ignore")
    generator = np.random.default_rng(1)
    scores = generator.random((32_000, 86), dtype=np.float32)
    truth = generator.integers(0, 86, size=len(scores))
    signs = (generator.random((20_000, 209)) < 15 / 209).astype(np.int8)
    signs[1::2] = -signs[::2]
    chances = generator.random(signs.shape, dtype=np.float32)
    print(
        compared(
            "DrugBank, 32,000 x 86",
            lambda: multiclass.metrics(truth, multiclass.predicted_types(scores), 86, over_truth=False),
            lambda: plain_one_type(truth, scores),
        )
    )
    print(
        compared(
            "TWOSIDES, 20,000 x 209",
            lambda: multilabel.as_published(multilabel.by_type(signs, chances), empty_is_zero=True),
            lambda: plain_several_types(signs, chances),
        )
    )


if __name__ == "__main__":
    main()
