"""How fast one fold is scored: the harness against a plain loop over drugs and diseases, in one run.

Equal values are asked. The fold has the size of Cdataset's (663 x 409, 20 % of the pairs). The original code takes
0.10 CPU seconds on such a fold for NS-AUC and 0.95 for its metrics together.

Usage: python -m benchmarks.metrics [--json]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from sklearn.metrics import f1_score, roc_auc_score

from harness.benchmarks.repurposing.metrics import as_defined, as_published
from harness.benchmarks.repurposing.metrics.pairs import Pairs

ORIGINAL_SECONDS = {"NS-AUC": 0.10, "all as published": 0.95}
_SHAPE, _POSITIVES, _SHARE = (663, 409), 2532, 0.2

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int8]
Indices = npt.NDArray[np.int64]
Metrics = dict[str, float | None]


def make_fold(seed: int, *, ties: bool) -> Pairs:
    """Random scores of both signs; with ties, every fifth score is the same, as where a factor is zero."""
    generator = np.random.default_rng(seed)
    labels = np.zeros(_SHAPE, dtype=np.int8)
    labels.reshape(-1)[generator.choice(labels.size, _POSITIVES, replace=False)] = 1
    inside = generator.random(_SHAPE) < _SHARE
    scores = generator.normal(size=int(inside.sum())) + labels[inside]
    if ties:
        scores[::5] = -2.0
    return Pairs(inside, labels[inside], scores)


def fresh(pairs: Pairs) -> Pairs:
    """The same pairs with nothing computed yet."""
    return Pairs(pairs.inside, pairs.labels, pairs.scores)


def groups(entities: Indices, labels: Labels) -> Iterator[npt.NDArray[np.bool_]]:
    """Rows or columns with exactly two kinds of labels, one of them +1."""
    for entity in np.unique(entities):
        own = entities == entity
        kinds = np.unique(labels[own])
        if len(kinds) == 2 and 1 in kinds:
            yield own


def plain_ordered_share(rows: Indices, labels: Labels, scores: Array) -> float:
    """NS-AUC by comparing every positive with every other pair of its drug."""
    shares = []
    for own in groups(rows, labels):
        ours, others = scores[own & (labels == 1)], scores[own & (labels < 1)]
        shares.append(sum(int((one > others).sum()) for one in ours) / (len(ours) * len(others)))
    return float(np.mean(shares)) if np.max(shares) else 0.5


def plain_metrics(pairs: Pairs) -> dict[str, float]:
    """The published metrics, one entity at a time."""
    rows, columns = np.nonzero(pairs.inside)
    labels, scores = pairs.labels, pairs.scores
    cut = np.where(scores > 0, 1, -1)
    areas, gains, f_scores = [], [], []
    for own in groups(columns, labels):
        truth, guess = labels[own], cut[own]
        areas.append(float(roc_auc_score(truth, guess)))
        f_scores.append(float(f1_score(truth, guess, average="weighted", zero_division=0)))
        gains.append(_gain(truth, guess) / _gain(truth, truth))
    dense, right = np.zeros(_SHAPE), np.zeros(_SHAPE)
    dense[rows, columns], right[rows, columns] = scores, labels == 1
    best = right.ravel()[np.argsort(-dense.ravel().astype(np.longdouble))]
    known = labels != 0
    return {
        "NS-AUC": plain_ordered_share(rows, labels, scores),
        "AUC": float(roc_auc_score(right.ravel(), dense.ravel())),
        "disease-wise AUC": float(np.mean(areas)),
        "NDCG": float(np.mean(gains)),
        "global NDCG": _gain(right.ravel(), dense.ravel()) / _gain(right.ravel(), right.ravel()),
        "accuracy": float((cut == labels)[known].mean()),
        "F-score": float(np.mean(f_scores)),
        **{f"HR@{first}": float(best[:first].sum() / best.sum()) for first in (2, 5, 10)},
    }


def _gain(labels: npt.NDArray[np.generic], keys: npt.NDArray[np.generic]) -> float:
    """Long doubles are still sorted as numpy 1.23 sorted everything, ties included."""
    ordered = np.asarray(labels[np.argsort(-keys.astype(np.longdouble))], dtype=np.float64)
    return float((ordered / np.log2(np.maximum(np.arange(1, len(ordered) + 1), 2))).sum())


def seconds(call: Callable[[], object], repeats: int) -> float:
    """The best CPU time of several: the least disturbed by others on the machine."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def measure(name: str, ties: bool) -> list[dict[str, object]]:
    """Both implementations on one fold."""
    pairs = make_fold(1, ties=ties)
    rows = np.nonzero(pairs.inside)[0]
    ours, plain = as_published.metrics(fresh(pairs)), plain_metrics(pairs)
    apart = max(abs(float(ours[metric] or 0.0) - value) for metric, value in plain.items())
    assert apart < 1e-12, f"values differ by {apart}"
    tasks: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        (
            "NS-AUC",
            lambda: as_published.ordered_share(fresh(pairs)),
            lambda: plain_ordered_share(rows, pairs.labels, pairs.scores),
        ),
        ("all as published", lambda: as_published.metrics(fresh(pairs)), lambda: plain_metrics(pairs)),
        ("all as defined", lambda: as_defined.metrics(fresh(pairs)), lambda: None),
    ]
    found: list[dict[str, object]] = []
    for task, ours_once, plain_once in tasks:
        mine = seconds(ours_once, 15)
        row: dict[str, object] = {"fold": name, "task": task, "ours_ms": round(1000 * mine, 2)}
        if task in ORIGINAL_SECONDS:
            plain_seconds = seconds(plain_once, 3)
            row["plain_ms"] = round(1000 * plain_seconds, 1)
            row["ratio_to_plain"] = round(plain_seconds / mine, 1)
            row["ratio_to_original"] = round(ORIGINAL_SECONDS[task] / mine, 1)
            row["largest_difference"] = apart
        found.append(row)
    return found


def main() -> None:
    """Print a line per task, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [*measure("distinct scores", ties=False), *measure("a fifth tied", ties=True)]
    if chosen.json:
        print(json.dumps(found, indent=2))
        return
    for row in found:
        print("  ".join(f"{key}={value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
