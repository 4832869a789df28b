"""PMF: factors ranked by what the training labels hold, scores V U transposed."""

from __future__ import annotations

import numpy as np
from bpr import bpr, initial_factors
from repurposing_sdk import Answer, Problem, run


def fit_predict(problem: Problem) -> Answer:
    """Fit on diseases x drugs, score drugs x diseases. Any label counts as an association, -1 too, unless told."""
    chosen = dict(problem.parameters)
    labels = problem.associations.T
    R = np.ascontiguousarray(labels == 1 if chosen.pop("positives_only") else labels != 0)
    U, V = initial_factors(R.shape, chosen.pop("n_factors"), chosen.pop("random_state"))
    trace = {"user_factors0": U.copy(), "item_factors0": V.copy()}
    bpr(R, U, V, **chosen)
    return Answer((U @ V.T).T, chosen["n_iters"], {**trace, "user_factors": U, "item_factors": V})


run(fit_predict)
