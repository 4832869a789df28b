"""Golden metrics of `dti`: stored labels and scores, and what scikit-learn and DTINet's code make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.dti.metrics import bindings, ranking
from harness.benchmarks.dti.names import DEPTHS, MAP_READINGS
from harness.methods.card import Tolerance
from harness.parity.finding import ArrayFinding, Standing, compare

Array = npt.NDArray[Any]

_CLOSE = Tolerance(absolute=1e-12)
_NEEDED = ("y", "s", "q_y", "q_s", "q_len")
# what the golden calls it -> what the harness does
_OF_ALL_PAIRS = {
    **{"auroc": "AUROC", "ap": "AUPR", "pr_auc_trapz_sklearn": "AUPR/trapezoid", "best_f1": "best F1"},
    **{"precision_at_0.5": "precision", "recall_at_0.5": "recall", "f1_at_0.5": "F1"},
    **{"general_f1_0.5": "general score", "general_bestf1": "general score/best F1"},
}
_MAPS = dict(zip(("map_minkR", "map_R", "map_hits"), MAP_READINGS, strict=True))


def check_metrics(arrays: Mapping[str, Array]) -> Iterator[ArrayFinding]:
    """One finding per metric: its worst case."""
    cases = [f"c{int(number)}_" for number in arrays.get("cases", ())]
    if not cases or any(f"{case}{name}" not in arrays for case in cases for name in _NEEDED):
        yield ArrayFinding("cases", Standing.FAILED, note="labels or scores are missing")
        return
    findings: dict[str, list[ArrayFinding]] = {}
    for case in cases:
        for name, ours in _values(arrays, case).items():
            golden = arrays.get(f"{case}{name}")
            absent = ArrayFinding(name, Standing.ABSENT, note=f"not in the golden's case {case[:-1]}")
            finding = absent if golden is None else compare(name, ours, golden, _CLOSE)
            findings.setdefault(name, []).append(finding)
    for all_cases in findings.values():
        yield max(
            all_cases, key=lambda one: (one.standing.is_bad, one.standing is Standing.ABSENT, one.error or 0)
        )


def _values(arrays: Mapping[str, Array], case: str) -> dict[str, Array]:
    """Every metric of a case, by the golden's names."""
    truth, scores = arrays[f"{case}y"] > 0, arrays[f"{case}s"].astype(np.float64)
    metrics = bindings.binding_metrics(truth, scores)
    values = {name: _number(metrics[ours]) for name, ours in _OF_ALL_PAIRS.items()}
    threshold = bindings.best_f1(bindings.threshold_counts(truth, scores))[1] if truth.any() else np.nan
    values["best_f1_threshold"] = np.asarray(threshold)
    if len(np.unique(scores)) == len(scores):
        # equal scores would be in any order there
        values["pr_auc_dtinet"] = np.asarray(_area_by_rank(truth, scores))
    lengths, truth = arrays[f"{case}q_len"], arrays[f"{case}q_y"] > 0
    queries, scores = np.repeat(np.arange(len(lengths)), lengths), arrays[f"{case}q_s"].astype(np.float64)
    hits, positives = ranking.hits_of(truth, scores, queries, max(DEPTHS))
    lists = [ranking.precision_recall_f1(hits, positives, depth) for depth in DEPTHS]
    means = ranking.ranking_metrics(truth, scores, queries)
    values["prf_at_k"] = np.stack(lists, axis=1)
    for name, reading in _MAPS.items():
        values[name] = np.array([_number(means[f"MAP@{depth}/{reading}"]) for depth in DEPTHS])
    return values


def _number(value: float | str) -> Array:
    """A metric without a value, of pairs that all bind or none, is no number there either."""
    return np.asarray(np.nan if isinstance(value, str) else value, dtype=np.float64)


def _area_by_rank(truth: Array, scores: Array) -> float:
    """DTINet's: trapezoids from item to item, beginning at the first one."""
    hits = np.cumsum(truth[np.argsort(-scores, kind="stable")])
    if not hits[-1]:
        return np.nan
    precision, recall = hits / np.arange(1, len(hits) + 1), hits / hits[-1]
    return float(np.diff(recall) @ (precision[1:] + precision[:-1]) / 2)
