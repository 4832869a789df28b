"""ALS-WR: factors from the labels alone, scores U V' transposed."""

from __future__ import annotations

from als import als, drug_half_step, initial_factors
from permafrost_sdk import Answer, Problem, run


def fit_predict(problem: Problem) -> Answer:
    """Fit on diseases x drugs, score drugs x diseases."""
    R = problem.associations.T.astype(float)
    U, V = als(R, **problem.parameters)
    trace = {"user_factors": U, "item_factors": V}
    if problem.trace:
        first = initial_factors(R.shape, problem.parameters["n_factors"], problem.parameters["random_state"])
        trace.update(user_factors0=first[0], item_factors0=first[1])
    return Answer((U @ V.T).T, problem.parameters["n_iters"], trace)


def drug_step(problem: Problem) -> Answer:
    """One half step from given factors: what can be compared where whole runs are chaotic."""
    R, U, V = problem.associations.T.astype(float), problem.inputs["user_factors"], problem.inputs["item_factors"]
    V1 = drug_half_step(R, U, V, problem.parameters["alpha"], problem.parameters["reg"])
    return Answer((U @ V.T).T, 1, {"item_factors": V1})


run(fit_predict, drug_step=drug_step)
