"""The metrics as the paper's code computes them, defects included; each function says what its formula would be.

None means that the original stops or divides by nothing there; `scorer` gives the reasons.
Throughout, labels are those of one set of pairs: +1, -1, or 0 for unknown.
"""

from __future__ import annotations

import numpy as np

from harness.benchmarks.repurposing.metrics.introsort import Integers, places
from harness.benchmarks.repurposing.metrics.pairs import Flags, Labels, Pairs, Scores, global_area
from harness.benchmarks.repurposing.names import HIT_RATES

_TINY = 1e-31


def without_zeros(scores: Scores, lowest: float) -> Scores:
    """Scores of 0 become half the model's lowest score, or 1e-31 where no score is negative.

    `lowest` is the smallest score other than 0 among ALL pairs of the model, 0 if there is none. A score of 0
    so becomes a confident "no" for any model that has negative scores.
    """
    replacement = min(_TINY, lowest / 2) if lowest else _TINY
    return np.where(scores == 0, replacement, scores)


def metrics(pairs: Pairs) -> dict[str, float | None]:
    """All of them, for scores that went through `without_zeros`."""
    diseases = pairs.transposed
    ranks = ranks_of_positives(pairs)
    return {
        "NS-AUC": ordered_share(pairs),
        "AUC": global_area(pairs.labels, pairs.scores, outside=pairs.inside.size - len(pairs.scores)),
        "disease-wise AUC": cut_area(diseases),
        "drug-wise AUC": cut_area(pairs),
        "NDCG": cut_gain(diseases),
        "global NDCG": global_gain(ranks, pairs.inside.size),
        "accuracy": accuracy(pairs),
        "F-score": f_score(diseases),
        **hit_rates(ranks_of_positives(pairs, hits=True)),
    }


def ordered_share(pairs: Pairs) -> float | None:
    """NS-AUC: over rows, that is drugs (the formula: over diseases). If no pair at all is in order: 0.5."""
    kept = pairs.mixed
    if not kept.any():
        return None
    positive = (pairs.labels == 1) & kept[pairs.entities]
    smaller, _ = pairs.outranked(positive, pairs.labels < 1)
    ordered = pairs.sum_per_row(positive, smaller)[kept]
    share = ordered / (pairs.positives * (pairs.sizes - pairs.positives))[kept]
    return float(share.mean()) if share.max() else 0.5


def cut_area(pairs: Pairs) -> float | None:
    """AUC of predictions cut to -1 and +1 (the formula: of scores), mean over rows."""
    return cut_area_of(pairs.entities, pairs.labels, pairs.scores > 0, len(pairs.inside))


def cut_area_of(entities: Integers, labels: Labels, taken: Flags, count: int) -> float | None:
    """The same from plain lists: the entity of each pair, its label, and whether it is predicted."""
    kinds = [np.bincount(entities[labels == label], minlength=count) for label in (1, 0, -1)]
    positives, others = kinds[0], kinds[1] + kinds[2]
    kept = (positives > 0) & ((kinds[1] > 0) ^ (kinds[2] > 0))
    if not kept.any():
        return None
    hits = np.bincount(entities[taken & (labels == 1)], minlength=count)[kept]
    false = np.bincount(entities[taken & (labels < 1)], minlength=count)[kept]
    hit_rate, false_rate = hits / positives[kept], false / others[kept]
    # the trapezoids left and right of the curve's one corner
    return float((false_rate * hit_rate / 2 + (1 - false_rate) * (1 + hit_rate) / 2).mean())


def cut_gain(pairs: Pairs) -> float | None:
    """NDCG of predictions cut to -1 and +1, so that ties decide; ranks 1 and 2 weigh the same; mean over rows."""
    kept = pairs.mixed
    if not kept.any():
        return None
    inside = kept[pairs.entities]
    labels, sizes = pairs.labels[inside], pairs.sizes[kept]
    labelled = labels != 0
    # the original sorts by decreasing prediction
    keys = np.where(pairs.scores[inside] > 0, -1.0, 1.0)
    weights = _weights(int(sizes.max()))
    gains = labels[labelled] * weights[places(keys, sizes, labelled)]
    rows = np.repeat(np.arange(len(sizes)), sizes)[labelled]
    gain = np.bincount(rows, weights=gains, minlength=len(sizes))
    total = np.concatenate([[0.0], np.cumsum(weights)])
    ideal = total[pairs.positives[kept]] - (total[sizes] - total[sizes - pairs.negatives[kept]])
    return float(np.divide(gain, ideal, out=np.zeros(len(gain)), where=ideal != 0).mean())


def global_gain(ranks: Integers, size: int) -> float | None:
    """NDCG of one ranking of all pairs; those outside the set have score 0, below or above the set's own."""
    if not len(ranks):
        return None
    weights = _weights(size)
    return float(weights[ranks].sum() / weights[: len(ranks)].sum())


def accuracy(pairs: Pairs) -> float | None:
    """Over pairs with a known label; nothing else is asked of a method where every known label is +1."""
    known = pairs.labels != 0
    return float((np.where(pairs.scores > 0, 1, -1) == pairs.labels)[known].mean()) if known.any() else None


def f_score(pairs: Pairs) -> float | None:
    """F1 averaged over a row's labels by their number; label 0 is never predicted and counts as missed."""
    kept = pairs.mixed
    if not kept.any():
        return None
    taken = pairs.scores > 0
    right = pairs.per_row(taken & (pairs.labels == 1))
    right_negative = pairs.per_row(~taken & (pairs.labels == -1))
    predicted = pairs.per_row(taken)
    weighted = pairs.positives * _f1(right, predicted, pairs.positives)
    weighted += pairs.negatives * _f1(right_negative, pairs.sizes - predicted, pairs.negatives)
    return float((weighted / np.maximum(pairs.sizes, 1))[kept].mean())


def hit_rates(ranks: Integers) -> dict[str, float | None]:
    """Positives among the first few of all pairs, as a share of all positives (not among the paper's metrics)."""
    count = len(ranks)
    return {f"HR@{best}": float((ranks < best).sum()) / count if count else None for best in HIT_RATES}


def ranks_of_positives(pairs: Pairs, *, hits: bool = False) -> Integers:
    """Ranks from 0 of the positives among all pairs by decreasing score; only ties with others need the sort.

    Hits are counted in an increasing sort read backwards, which leaves ties in another order than a decreasing
    one; of these ranks only those that can be hits are right.
    """
    positive = pairs.labels == 1
    ours, others = pairs.scores[positive], np.sort(-pairs.scores[~positive])
    outside = pairs.inside.size - len(pairs.scores)
    before = np.searchsorted(others, -ours, side="left")
    tied = np.searchsorted(others, -ours, side="right") > before
    above = before + np.where(ours < 0, outside, 0)
    if hits:
        tied &= above + np.searchsorted(np.sort(-ours), -ours) < max(HIT_RATES)
    # equal positives: which of them is first changes nothing
    order = np.argsort(-ours, kind="stable")
    above[order] += np.arange(len(ours))
    if tied.any():
        above[tied] = _ranks_of_tied(pairs, np.flatnonzero(positive)[tied], backwards=hits)
    return np.asarray(above)


def _ranks_of_tied(pairs: Pairs, chosen: Integers, *, backwards: bool) -> Integers:
    """Where the original's sort of the whole matrix leaves some pairs."""
    keys = np.zeros(pairs.inside.size)
    inside = np.flatnonzero(pairs.inside)
    keys[inside] = pairs.scores if backwards else -pairs.scores
    wanted = np.zeros(pairs.inside.size, dtype=bool)
    wanted[inside[chosen]] = True
    found = places(keys, np.array([len(keys)]), wanted)
    return len(keys) - 1 - found if backwards else found


def _weights(count: int) -> Scores:
    """1, 1, 1/log2(3), 1/log2(4), ... (the formula: 1/log2(rank + 1))."""
    return 1 / np.log2(np.maximum(np.arange(1, count + 1), 2))


def _f1(right: Integers, predicted: Integers, labelled: Integers) -> Scores:
    both = (predicted + labelled).astype(np.float64)
    return np.divide(2 * right, both, out=np.zeros(len(both)), where=both > 0)
