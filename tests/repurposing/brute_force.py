"""The metrics written from their definitions, one pair at a time, for comparison on small matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Row = list[tuple[int, float]]


def rows_of(labels: Matrix, inside: Matrix, scores: Matrix) -> list[Row]:
    """The pairs of the set, row by row: label and score."""
    return [
        [(int(labels[i, j]), float(scores[i, j])) for j in range(labels.shape[1]) if inside[i, j]]
        for i in range(labels.shape[0])
    ]


def mean(values: Sequence[float]) -> float | None:
    """None for no values."""
    return sum(values) / len(values) if values else None


def is_mixed(row: Row) -> bool:
    """The published rule."""
    kinds = {label for label, _ in row}
    return len(kinds) == 2 and 1 in kinds


def area_of(row: Row) -> float | None:
    """Probability that a positive has a higher score than another pair, ties half."""
    ours = [score for label, score in row if label == 1]
    others = [score for label, score in row if label < 1]
    if not ours or not others:
        return None
    won = sum((a > b) + (a == b) / 2 for a in ours for b in others)
    return float(won / (len(ours) * len(others)))


def published_ordered_share(rows: list[Row]) -> float | None:
    """NS-AUC as published."""
    shares = []
    for row in filter(is_mixed, rows):
        compared = [(a, b) for la, a in row if la == 1 for lb, b in row if lb < 1]
        shares.append(sum(a > b for a, b in compared) / len(compared))
    return None if not shares else mean(shares) if max(shares) > 0 else 0.5


def cut(row: Row) -> Row:
    """Scores cut to -1 and +1."""
    return [(label, 1.0 if score > 0 else -1.0) for label, score in row]


def published_cut_area(rows: list[Row]) -> float | None:
    """Disease-wise AUC as published."""
    return mean([area_of(cut(row)) or 0.0 for row in rows if is_mixed(row)])


def published_f_score(rows: list[Row]) -> float | None:
    """F1 of every label, weighted by how often it occurs."""
    found = []
    for row in filter(is_mixed, rows):
        total = 0.0
        for kind in {label for label, _ in row}:
            right = sum(label == kind == guess for label, guess in cut(row))
            guessed = sum(guess == kind for _, guess in cut(row))
            there = sum(label == kind for label, _ in row)
            total += there * (2 * right / (guessed + there))
        found.append(total / len(row))
    return mean(found)


def published_gain(rows: list[Row]) -> float | None:
    """NDCG as published; a sort of long doubles is the one sort numpy has never changed."""
    found = []
    for row in filter(is_mixed, rows):
        labels = np.array([label for label, _ in row])
        order = np.argsort(-np.array([guess for _, guess in cut(row)], dtype=np.longdouble))
        ideal = _published_sum(sorted(labels, reverse=True))
        found.append(_published_sum(list(labels[order])) / ideal if ideal else 0.0)
    return mean(found)


def published_global(
    labels: Matrix, inside: Matrix, scores: Matrix
) -> tuple[float | None, float | None, list[int]]:
    """AUC and NDCG over all pairs, and the labels in their ranking."""
    truth = ((inside == 1) & (labels == 1)).astype(int).ravel()
    everything = np.where(inside == 1, scores, 0.0).ravel()
    area = area_of(list(zip(truth.tolist(), everything.tolist(), strict=True)))
    ranked = truth[np.argsort(-everything.astype(np.longdouble))].tolist()
    gain = _published_sum(ranked) / _published_sum(sorted(ranked, reverse=True)) if truth.any() else None
    return area, gain, ranked


def published_hits(labels: Matrix, inside: Matrix, scores: Matrix) -> list[int]:
    """The labels in the ranking in which hits are counted: an increasing sort, read backwards."""
    truth = ((inside == 1) & (labels == 1)).astype(int).ravel()
    everything = np.where(inside == 1, scores, 0.0).ravel()
    ranked: list[int] = truth[np.argsort(everything.astype(np.longdouble))[::-1]].tolist()
    return ranked


def defined_ordered_share(rows: list[Row]) -> float | None:
    """NS-AUC as defined."""
    shares = []
    for row in rows:
        compared = [(a, b) for la, a in row for lb, b in row if la > lb]
        if compared:
            shares.append(sum(a > b for a, b in compared) / len(compared))
    return mean(shares)


def defined_area(rows: list[Row]) -> float | None:
    """Mean of the rows that have an area."""
    return mean([area for row in rows if (area := area_of(row)) is not None])


def defined_gain(rows: list[Row]) -> float | None:
    """NDCG as defined, each tie sharing its mean label."""
    found = []
    for row in rows:
        count = sum(label == 1 for label, _ in row)
        if not count:
            continue
        ranked = sorted((score for _, score in row), reverse=True)[:count]
        gains = [_mean_label(row, score) / math.log2(rank + 2) for rank, score in enumerate(ranked)]
        found.append(sum(gains) / sum(1 / math.log2(rank + 2) for rank in range(count)))
    return mean(found)


def _mean_label(row: Row, score: float) -> float:
    tied = [label for label, other in row if other == score]
    return sum(tied) / len(tied)


def _published_sum(labels: Sequence[int]) -> float:
    return sum(label / (math.log2(rank) if rank > 1 else 1.0) for rank, label in enumerate(labels, start=1))
