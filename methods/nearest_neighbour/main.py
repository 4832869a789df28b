"""Control: a drug binds what the most similar drug binds. It compares structures and trains nothing."""

from __future__ import annotations

import numpy as np
from dti_sdk import Answer, Array, Problem, run
from fingerprints import morgan_bits, tanimoto


def fit_predict(problem: Problem) -> Answer:
    """The similarity of the nearest training drug that binds the target; the mean of affinities."""
    bits = morgan_bits(problem.inputs["smiles"], problem.parameters["radius"], problem.parameters["bits"])
    train, values = problem.train.pairs, problem.train.values
    scores = np.full(len(problem.test_pairs), values.mean() if problem.affinity else 0.0)
    for target in np.unique(problem.test_pairs[:, 1]):
        asked = problem.test_pairs[:, 1] == target
        # without affinities, a pair of value 0 is no neighbour
        known = (train[:, 1] == target) & (problem.affinity | (values > 0))
        if known.any():
            alike = tanimoto(bits[problem.test_pairs[asked, 0]], bits[train[known, 0]])
            scores[asked] = (
                mean_of_nearest(alike, values[known], problem.parameters["neighbours"])
                if problem.affinity
                else alike.max(axis=1)
            )
    return Answer(scores)


def mean_of_nearest(alike: Array, values: Array, neighbours: int) -> Array:
    """The mean of the nearest drugs' values, weighted by similarity; of all values where none is similar."""
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, :neighbours]
    weights = np.take_along_axis(alike, nearest, axis=1)
    total = weights.sum(axis=1)
    means = (weights * values[nearest]).sum(axis=1)
    return np.divide(means, total, out=np.full(len(alike), values.mean()), where=total > 0)


run(fit_predict)
