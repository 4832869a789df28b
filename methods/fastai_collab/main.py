"""Fast.ai collab learner: known labels in, scores of all pairs out, by the library fastai."""

from __future__ import annotations

import json
import os
from pathlib import Path

# torch chooses its kernels when it is imported, so this one parameter is read before anything else
job = json.loads((Path(os.environ.get("PERMAFROST_IN", "/in")) / "job.json").read_bytes())
if job["parameters"]["kernels_of_any_processor"]:
    os.environ |= {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"}
else:
    os.environ.pop("MKL_CBWR", None)
# fastai and matplotlib make folders for their settings when they are imported
os.environ |= {"FASTAI_HOME": "/tmp/fastai", "MPLCONFIGDIR": "/tmp/matplotlib"}

import numpy as np  # noqa: E402
from learner import fit  # noqa: E402
from repurposing_sdk import Answer, Problem, run  # noqa: E402


def fit_predict(problem: Problem) -> Answer:
    """Fit on what is known; where nothing is, there is nothing to learn from, and every score is 0."""
    if not problem.associations.any():
        return Answer(np.zeros(problem.associations.shape), 0)
    chosen = {name: value for name, value in problem.parameters.items() if name != "kernels_of_any_processor"}
    return Answer(fit(problem.associations, **chosen), chosen["n_iterations"])


run(fit_predict)
