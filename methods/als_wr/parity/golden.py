"""Golden cases of ALS-WR whose labels make whole runs chaotic."""

from __future__ import annotations

import numpy as np
from als import Known, half_step, initial_factors
from repurposing_sdk import Answer, Problem


def drug_step(problem: Problem) -> Answer:
    """One half step from given factors: what can be compared where whole runs are chaotic.

    Drugs that no step reaches keep the factors they begin with.
    """
    R, U, V = problem.associations.T, problem.inputs["user_factors"], problem.inputs["item_factors"]
    chosen = problem.parameters
    users, first = initial_factors(R.shape, chosen["n_factors"], chosen["random_state"])
    updated = half_step(Known.of(R.T[: len(R)], chosen["alpha"]), U, chosen["reg"])
    trace = {"user_factors0": users, "item_factors0": first}
    return Answer((U @ V.T).T, 1, {**trace, "item_factors": np.vstack([updated, first[len(R) :]])})
