"""The metrics as the paper's Table 3 defines them, over the pairs of one set, with the method's own scores.

Where the table leaves something open, or can't be taken by its word, the choice made here is stated. None means
that the metric is undefined for this set.
"""

from __future__ import annotations

import numpy as np

from harness.benchmarks.repurposing.metrics.pairs import Flags, Integers, Pairs, Scores, global_area


def metrics(pairs: Pairs) -> dict[str, float | None]:
    """All of them."""
    diseases = pairs.transposed
    return {
        "NS-AUC": ordered_share(diseases),
        "AUC": global_area(pairs.labels, pairs.scores),
        "disease-wise AUC": area(diseases),
        "drug-wise AUC": area(pairs),
        "NDCG": gain(diseases),
        "global NDCG": gain(in_one_row(pairs)),
        "accuracy": accuracy(pairs),
    }


def in_one_row(pairs: Pairs) -> Pairs:
    """The same pairs as if all belonged to one entity."""
    return Pairs(np.ones((1, len(pairs.scores)), dtype=bool), pairs.labels, pairs.scores)


def ordered_share(pairs: Pairs) -> float | None:
    """NS-AUC: of all pairs of a row with different labels, the share that the scores order strictly the same way.

    Rows without two different labels have no value; the mean is over the others.
    """
    zero, negative = pairs.labels == 0, pairs.labels == -1
    unknown = pairs.per_row(zero)
    comparisons = pairs.positives * (unknown + pairs.negatives) + unknown * pairs.negatives
    ordered = _smaller_per_row(pairs, pairs.labels == 1, pairs.labels < 1)
    if negative.any():
        # the rarer of the two kinds asks, the other answers: scores with the sign turned
        turned = pairs.with_scores(-pairs.scores)
        ordered = ordered + _smaller_per_row(turned, negative, zero)
    kept = comparisons > 0
    return float((ordered[kept] / comparisons[kept]).mean()) if kept.any() else None


def area(pairs: Pairs) -> float | None:
    """Area under the ROC curve of a row, positives against all others, ties counting half; mean over the rows
    that have both. (The table's rates have other denominators than a ROC curve; by its word no curve exists.)"""
    others = pairs.sizes - pairs.positives
    kept = (pairs.positives > 0) & (others > 0)
    if not kept.any():
        return None
    positive = pairs.labels == 1
    smaller, equal = pairs.outranked(positive, pairs.labels < 1)
    ordered = pairs.sum_per_row(positive, smaller + equal / 2)
    return float((ordered[kept] / (pairs.positives * others)[kept]).mean())


def gain(pairs: Pairs) -> float | None:
    """NDCG over a row's best-ranked pairs, as many as it has positives; mean over the rows that have any.

    Tied scores have no order, so that each gets the mean label of its tie at each of its ranks.
    """
    kept = pairs.positives > 0
    if not kept.any():
        return None
    inside = kept[pairs.entities]
    rows, scores, labels = pairs.entities[inside], pairs.scores[inside], pairs.labels[inside]
    order = np.lexsort((-scores, rows))
    rows, scores, labels = rows[order], scores[order], labels[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows, side="left") + 1
    gains = _mean_of_ties(rows, scores, labels)
    counted = rank <= pairs.positives[rows]
    reached = np.bincount(rows[counted], gains[counted] / np.log2(rank[counted] + 1), minlength=len(kept))
    best = np.cumsum(1 / np.log2(np.arange(2, int(pairs.positives.max()) + 2)))
    return float((reached[kept] / best[pairs.positives[kept] - 1]).mean())


def accuracy(pairs: Pairs) -> float | None:
    """Share of the known labels whose score has their sign; a score of 0 has none."""
    known = pairs.labels != 0
    return float((pairs.scores * pairs.labels > 0)[known].mean()) if known.any() else None


def _smaller_per_row(pairs: Pairs, chosen: Flags, others: Flags) -> Scores:
    return pairs.sum_per_row(chosen, pairs.outranked(chosen, others)[0])


def _mean_of_ties(rows: Integers, scores: Scores, labels: np.typing.NDArray[np.int8]) -> Scores:
    """For pairs sorted by row and score: the mean label of all pairs of the row with the same score."""
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (scores[1:] != scores[:-1])
    tie = np.cumsum(new) - 1
    means: Scores = np.bincount(tie, labels.astype(np.float64)) / np.bincount(tie)
    return np.asarray(means[tie])
