"""The metrics written from their definitions, item by item, for comparison on small problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.benchmarks.ddi.conformance.problems import Problem
from harness.benchmarks.ddi.splits.parts import OUTSIDE

Value = float | None


def rows_of(problem: Problem, setting: int) -> list[int]:
    """The test items of one setting in their order: parts 5 and 6 of a split file are S1 and S2."""
    split = problem.split
    chosen = [item for item, part in enumerate(split.items) if part == 4 + setting]
    return sorted(chosen, key=lambda item: int(split.places[item]))


def mean(values: Sequence[float]) -> Value:
    """None for no values."""
    return sum(values) / len(values) if values else None


def first_best(scores: Sequence[float]) -> int:
    """The first type with the highest score."""
    return max(range(len(scores)), key=lambda kind: (scores[kind], -kind))


def lowest_types(problem: Problem) -> dict[tuple[int, int], int]:
    """The lowest type of every ordered pair among all items of train, valid and test."""
    lowest: dict[tuple[int, int], int] = {}
    for (head, tail), label, part in zip(
        problem.dataset.pairs.tolist(), problem.dataset.labels.tolist(), problem.split.items, strict=True
    ):
        if part != OUTSIDE:
            lowest[head, tail] = min(label, lowest.get((head, tail), label))
    return lowest


def of_one_type(truth: Sequence[int], guesses: Sequence[int], *, over_truth: bool) -> dict[str, Value]:
    """F1, accuracy and kappa."""
    count = len(truth)
    if not count:
        return {"F1": None, "accuracy": None, "kappa": None}
    kinds = set(truth) if over_truth else {*truth, *guesses}
    agreement = sum(a == b for a, b in zip(truth, guesses, strict=True)) / count
    chance = sum(truth.count(kind) * guesses.count(kind) for kind in {*truth, *guesses}) / count**2
    return {
        "F1": mean([_f1(kind, truth, guesses) for kind in kinds]),
        "accuracy": agreement,
        "kappa": None if chance == 1 else (agreement - chance) / (1 - chance),
    }


def of_type(ours: Sequence[float], others: Sequence[float]) -> dict[str, Value]:
    """The metrics of one type by the scores of its positives and negatives."""
    everything = sorted([(score, 1) for score in ours] + [(score, 0) for score in others], reverse=True)
    right = [score > 0.5 for score in ours] + [score <= 0.5 for score in others]
    half = len(everything) // 2
    wins = [(a > b) + (a == b) / 2 for a in ours for b in others]
    return {
        "ROC-AUC": mean(wins),
        "PR-AUC": _average_precision(ours, others) if ours else None,
        "accuracy": mean([float(one) for one in right]),
        "precision at half": sum(hit for _, hit in everything[:half]) / half if half else None,
    }


def of_several_types(
    signs: np.typing.NDArray[np.int8], scores: np.typing.NDArray[np.float32], *, skip: bool
) -> dict[str, dict[str, Value]]:
    """Means over types of both kinds."""
    told = []
    for column, values in zip(signs.T, scores.T, strict=True):
        ours = [float(score) for sign, score in zip(column, values, strict=True) if sign == 1]
        others = [float(score) for sign, score in zip(column, values, strict=True) if sign == -1]
        told.append((len(ours), len(others), of_type(ours, others)))
    return {
        "as-published": {name: _published(told, name, skip=skip) for name in _NAMES},
        "as-defined": {
            name: mean([_certain(found, name) for some, rest, found in told if some and rest])
            for name in _NAMES[:3]
        },
    }


_NAMES = ("ROC-AUC", "PR-AUC", "accuracy", "precision at half")


def _published(told: Sequence[tuple[int, int, Mapping[str, Value]]], name: str, *, skip: bool) -> Value:
    present = [found[name] for some, rest, found in told if some + rest]
    if not present or None in present:
        return None
    zeros = [] if skip else [0.0] * (len(told) - len(present))
    return mean([*(value for value in present if value is not None), *zeros])


def _certain(found: Mapping[str, Value], name: str) -> float:
    value = found[name]
    assert value is not None
    return value


def _f1(kind: int, truth: Sequence[int], guesses: Sequence[int]) -> float:
    hits = sum(a == b == kind for a, b in zip(truth, guesses, strict=True))
    if not hits:
        return 0.0
    precision, recall = hits / guesses.count(kind), hits / truth.count(kind)
    return 2 * precision * recall / (precision + recall)


def _average_precision(ours: Sequence[float], others: Sequence[float]) -> float:
    """At every threshold, what recall it adds times its precision."""
    total, before = 0.0, 0.0
    for threshold in sorted({*ours, *others}, reverse=True):
        found = sum(score >= threshold for score in ours)
        taken = found + sum(score >= threshold for score in others)
        recall = found / len(ours)
        total += (recall - before) * found / taken
        before = recall
    return total
