"""ALS-WR: factors from the labels alone, scores V U transposed."""

from __future__ import annotations

import json
import os
from pathlib import Path

# OpenBLAS chooses its kernels when NumPy is imported, so this one parameter is read before anything else. With
# labels of -1 the last bit of a product decides, and the kernels are part of the answer.
job = json.loads((Path(os.environ.get("PERMAFROST_IN", "/in")) / "job.json").read_bytes())
os.environ["OPENBLAS_CORETYPE"] = job["parameters"]["blas_kernels"]

import numpy as np  # noqa: E402
from als import Known, als, half_step, initial_factors  # noqa: E402
from permafrost_sdk import Answer, Problem, run  # noqa: E402


def fit_predict(problem: Problem) -> Answer:
    """Fit on diseases x drugs, score drugs x diseases."""
    R = problem.associations.T
    chosen = {name: value for name, value in problem.parameters.items() if name != "blas_kernels"}
    U, V = als(R, **chosen)
    first = initial_factors(R.shape, chosen["n_factors"], chosen["random_state"])
    trace = {"user_factors0": first[0], "item_factors0": first[1], "user_factors": U, "item_factors": V}
    return Answer((U @ V.T).T, chosen["n_iters"], trace)


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


run(fit_predict, drug_step=drug_step)
