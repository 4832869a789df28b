"""The metrics of drug-target pairs as their definitions read, slowly: what the fast ones are held against."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Truth = Sequence[bool]
Scores = Sequence[float]
Points = list[tuple[float, float]]


def auroc(truth: Truth, scores: Scores) -> float:
    """The share of pairs of a positive and a negative in the right order; ties count one half."""
    wins = [
        (one > other) + (one == other) / 2
        for one, own in zip(scores, truth, strict=True)
        if own
        for other, its in zip(scores, truth, strict=True)
        if not its
    ]
    return sum(wins) / len(wins)


def curve(truth: Truth, scores: Scores) -> Points:
    """Recall and precision at every score that occurs, the highest first; nothing recalled comes before."""
    points = [(0.0, 1.0)]
    for threshold in sorted(set(scores), reverse=True):
        found = [own for own, score in zip(truth, scores, strict=True) if score >= threshold]
        points.append((sum(found) / sum(truth), sum(found) / len(found)))
    return points


def average_precision(truth: Truth, scores: Scores) -> float:
    """Precisions by the recall that each adds."""
    points = curve(truth, scores)
    return sum((after[0] - before[0]) * after[1] for before, after in pairwise(points))


def trapezoid(truth: Truth, scores: Scores) -> float:
    """The area under the lines from point to point."""
    points = curve(truth, scores)
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))


def best_f1(truth: Truth, scores: Scores) -> float:
    """The highest F1 of any threshold."""
    return max(2 * r * p / (r + p) if r + p else 0.0 for r, p in curve(truth, scores)[1:])


def at_half(truth: Truth, scores: Scores) -> tuple[float, float, float]:
    """Precision, recall and F1 of what scores one half or more."""
    found = [own for own, score in zip(truth, scores, strict=True) if score >= 0.5]
    precision = sum(found) / len(found) if found else 0.0
    recall = sum(found) / sum(truth) if any(truth) else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def lists(truth: Truth, scores: Scores, queries: Sequence[int]) -> list[list[bool]]:
    """The truth of each query with a positive, best first, equal scores in their order."""
    ranked = []
    for query in sorted(set(queries)):
        rows = [row for row, its in enumerate(queries) if its == query]
        ranked.append([truth[row] for row in sorted(rows, key=lambda row: (-scores[row], row))])
    return [own for own in ranked if any(own)]


def at_depth(ranked: list[list[bool]], depth: int) -> dict[str, float]:
    """Means over lists of precision, recall and F1 at k and of average precision at k in three readings."""
    sums: dict[str, float] = {}
    for own in ranked:
        hits, positives = sum(own[:depth]), sum(own)
        precision, recall = hits / depth, hits / positives
        places = [place for place, one in enumerate(own[:depth]) if one]
        total = sum(sum(own[: place + 1]) / (place + 1) for place in places)
        values = {
            "precision": precision,
            "recall": recall,
            "F1": 2 * precision * recall / (precision + recall) if hits else 0.0,
            "min": total / min(depth, positives),
            "all": total / positives,
            "hits": total / hits if hits else 0.0,
        }
        for name, value in values.items():
            sums[name] = sums.get(name, 0.0) + value / len(ranked)
    return sums


def concordance(truth: Scores, scores: Scores) -> float | None:
    """Of pairs with unequal truth, the share in the right order; equal scores count one half."""
    found = []
    for place, one in enumerate(truth):
        for before, other in enumerate(truth[:place]):
            if one != other:
                own, its = scores[place], scores[before]
                found.append(0.5 if own == its else float((own > its) == (one > other)))
    return sum(found) / len(found) if found else None
