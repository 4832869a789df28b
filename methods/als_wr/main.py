"""ALS-WR: factors from the labels alone, scores V U transposed."""

from __future__ import annotations

import json
import os
from pathlib import Path

# OpenBLAS chooses its kernels when NumPy is imported, so this one parameter is read before anything else. With
# labels of -1 the last bit of a product decides, and the kernels are part of the answer.
job = json.loads((Path(os.environ.get("PERMAFROST_IN", "/in")) / "job.json").read_bytes())
os.environ["OPENBLAS_CORETYPE"] = job["parameters"]["blas_kernels"]

from als import als, initial_factors  # noqa: E402
from repurposing_sdk import Answer, Problem, run  # noqa: E402


def fit_predict(problem: Problem) -> Answer:
    """Fit on diseases x drugs, score drugs x diseases."""
    R = problem.associations.T
    chosen = {name: value for name, value in problem.parameters.items() if name != "blas_kernels"}
    U, V = als(R, **chosen)
    first = initial_factors(R.shape, chosen["n_factors"], chosen["random_state"])
    trace = {"user_factors0": first[0], "item_factors0": first[1], "user_factors": U, "item_factors": V}
    return Answer((U @ V.T).T, chosen["n_iters"], trace)


run(fit_predict)
