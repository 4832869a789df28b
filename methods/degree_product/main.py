"""Control: how much is known of the drug times how much of the target. Of the pair itself it knows nothing."""

from __future__ import annotations

import numpy as np
from dti_sdk import Answer, Array, Problem, run


def fit_predict(problem: Problem) -> Answer:
    """The rank of a pair's product of training bindings; of affinities, what both means come to."""
    drugs, targets = problem.test_pairs.T
    if not problem.affinity:
        of_drugs, of_targets = (sums(problem, column)[0] for column in (0, 1))
        return Answer(ranks(of_drugs[drugs] * of_targets[targets], of_drugs, of_targets))
    mean = problem.train.values.mean()
    of_drugs, of_targets = (deviations(problem, column, mean) for column in (0, 1))
    return Answer(mean + of_drugs[drugs] + of_targets[targets])


def ranks(products: Array, of_drugs: Array, of_targets: Array) -> Array:
    """Of all pairs of a drug and a target with bindings, the share that has a smaller product; of ties, half."""
    (drugs, as_many_drugs), (targets, as_many_targets) = (
        np.unique(known[known > 0], return_counts=True) for known in (of_drugs, of_targets)
    )
    of_pairs, as_many = np.outer(drugs, targets).ravel(), np.outer(as_many_drugs, as_many_targets).ravel()
    order = np.argsort(of_pairs)
    below = np.concatenate([[0], np.cumsum(as_many[order])])
    smaller, up_to = (below[np.searchsorted(of_pairs[order], products, side)] for side in ("left", "right"))
    return (smaller + up_to) / max(2 * below[-1], 1)


def sums(problem: Problem, column: int) -> tuple[Array, Array]:
    """The sum of a drug's or target's training values, and how many they are."""
    ends, count = problem.train.pairs[:, column], (problem.drugs, problem.targets)[column]
    return np.bincount(ends, problem.train.values, count), np.bincount(ends, minlength=count)


def deviations(problem: Problem, column: int, mean: float) -> Array:
    """By how much a drug's or target's mean differs from that of all; 0 where it has no training pair."""
    total, count = sums(problem, column)
    return np.where(count > 0, total / np.maximum(count, 1) - mean, 0.0)


run(fit_predict)
