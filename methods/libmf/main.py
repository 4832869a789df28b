"""LibMF: the library itself factorises the labels; its binding scores pairs, as it does or as it should."""

from __future__ import annotations

import numpy as np
from libmf import mf
from repurposing_sdk import Answer, Array, Problem, run
from turns import take_turns


def fit_predict(problem: Problem) -> Answer:
    """Fit on all training pairs, zeros included; score the pairs that are asked for, one set at a time."""
    scores = np.zeros(problem.associations.shape)
    if not problem.training.any():
        # the library would answer everything with the mean of nothing, which is not a number
        return Answer(scores, 0)
    take_turns()
    chosen = dict(problem.parameters)
    pair_order = chosen.pop("pair_order")
    model = mf.MF(quiet=True, **chosen)
    model.fit(triples(problem))
    for asked in problem.asked:
        # C: pair after pair. F: all drugs, then all diseases, which is what the library's C++ side reads.
        scores[asked] = model.predict(np.argwhere(asked).astype(np.float32, order=pair_order))
    trace = {"P": model.p_factors(), "Q": model.q_factors(), "b": np.array(model.model.b)}
    return Answer(scores, chosen["nr_iters"], trace)


def triples(problem: Problem) -> Array:
    """Drug, disease and label of every training pair, row by row."""
    training = np.flatnonzero(problem.training)
    X = np.empty((len(training), 3), dtype=np.float32)
    X[:, 0], X[:, 1] = np.divmod(training, problem.training.shape[1])
    X[:, 2] = problem.associations.ravel()[training]
    return X


run(fit_predict)
