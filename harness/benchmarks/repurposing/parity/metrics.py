"""Golden metrics of `repurposing`: its scoring functions on stored scores, against what the original found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.plurals import counted
from harness.benchmarks.repurposing.metrics import as_defined, as_published
from harness.benchmarks.repurposing.metrics.pairs import Pairs
from harness.methods.card import Tolerance
from harness.parity.finding import ArrayFinding, Standing, compare

Array = npt.NDArray[Any]

_CLOSE = Tolerance(absolute=1e-12)
# An ideal gain may be nearly 0 where labels are -1 and 1: what is divided by it is then rounding on both sides.
_WIDER = {"avg_NDCG_mean_sd": Tolerance(absolute=1e-10)}


def check_metrics(arrays: Mapping[str, Array]) -> Iterator[ArrayFinding]:
    """One finding per metric: its worst case."""
    numbers = sorted({name.partition("/")[0] for name in arrays if "/" in name})
    cases: dict[str, list[tuple[str, ArrayFinding]]] = {}
    for number in numbers:
        own = {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{number}/")}
        case = _Scored(own)
        for name, compute in _METRICS.items():
            if name in own:
                ours, golden = compute(case), _GOLDEN.get(name, np.asarray)(own[name])
                cases.setdefault(name, []).append((number, compare(name, ours, golden, _WIDER.get(name, _CLOSE))))
            else:
                cases.setdefault(name, []).append((number, ArrayFinding(name, Standing.ABSENT)))
    for name, findings in cases.items():
        number, worst = max(findings, key=lambda one: (one[1].standing.is_bad, one[1].error or 0.0))
        note = counted(len(findings), "case") + (
            f", worst in {number}" if worst.error or worst.standing.is_bad else ""
        )
        yield ArrayFinding(name, worst.standing, worst.error, worst.allowed, f"{note}; {worst.note}".strip("; "))


class _Scored:
    """One golden case of the metrics, scored by the harness."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        inside, scores = arrays["F"] != 0, arrays["S"]
        nonzero = scores[scores != 0]
        self.filled = as_published.without_zeros(scores, float(nonzero.min()) if nonzero.size else 0.0)
        self.inside = inside
        self.labels = arrays["A"][inside].astype(np.int8)
        self.pairs = Pairs(inside, self.labels, self.filled[inside])
        self.published = as_published.metrics(self.pairs)

    def within(self) -> Array:
        """Scores as the published metrics take them, 0 outside the set."""
        return np.where(self.inside, self.filled, 0.0)

    def on_scores(self) -> float | None:
        """Disease-wise AUC of scores over the diseases that the published rule keeps."""
        mask = self.inside & self.pairs.transposed.mixed[None, :]
        return as_defined.area(Pairs(mask, self.labels[mask[self.inside]], self.filled[mask]).transposed)


def _published(name: str) -> Callable[[_Scored], Array]:
    return lambda scored: _or_nan(scored.published[name])


def _or_nan(value: float | None) -> Array:
    return np.asarray(np.nan if value is None else value)


def _first(golden: Array) -> Array:
    return np.asarray(golden[0])


def _mean(golden: Array) -> Array:
    return np.asarray(golden.mean() if golden.size else np.nan)


# what the golden calls it -> what the harness computes; the lists per drug or disease are compared by their mean
_METRICS: dict[str, Callable[[_Scored], Array]] = {
    "scores_after_fill": _Scored.within,
    "predictions": lambda scored: np.where(scored.inside, np.where(scored.filled > 0, 1, -1), 0),
    "lin_auc": _published("NS-AUC"),
    "ns_auc_rows": lambda scored: _or_nan(_share(scored.pairs)),
    "ns_auc_cols": lambda scored: _or_nan(_share(scored.pairs.transposed)),
    "global_auc": _published("AUC"),
    "avg_AUC_binary_mean_sd": _published("disease-wise AUC"),
    "disease_auc_on_scores": lambda scored: _or_nan(scored.on_scores()),
    "avg_NDCG_mean_sd": _published("NDCG"),
    "global_ndcg": _published("global NDCG"),
    "acc": _published("accuracy"),
    "avg_F_mean_sd": _published("F-score"),
}
_GOLDEN: dict[str, Callable[[Array], Array]] = {
    "avg_AUC_binary_mean_sd": _first,
    "avg_NDCG_mean_sd": _first,
    "avg_F_mean_sd": _first,
    "ns_auc_rows": _mean,
    "ns_auc_cols": _mean,
    "disease_auc_on_scores": _mean,
}


def _share(pairs: Pairs) -> float | None:
    """NS-AUC before the published replacement of 0 by 0.5, which the golden's lists do not have."""
    positive = (pairs.labels == 1) & pairs.mixed[pairs.entities]
    if not pairs.mixed.any():
        return None
    smaller, _ = pairs.outranked(positive, pairs.labels < 1)
    counts = pairs.positives * (pairs.sizes - pairs.positives)
    return float((pairs.sum_per_row(positive, smaller)[pairs.mixed] / counts[pairs.mixed]).mean())
