"""HAN: graph attention along drug-disease-drug and disease-drug-disease, scores from a bilinear product."""

from __future__ import annotations

import warnings

from kernels import choose

choose()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from inputs import Inputs  # noqa: E402
from repurposing_sdk import Answer, Problem, run  # noqa: E402
from training import train  # noqa: E402

torch.use_deterministic_algorithms(True)
# which would fill what is going to be written anyway
torch.utils.deterministic.fill_uninitialized_memory = False


def fit_predict(problem: Problem, *, dropout: bool = True) -> Answer:
    """What this inner model may know becomes features, graphs and targets; then all epochs."""
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
    chosen = {name: value for name, value in problem.parameters.items() if name != "numpy_kernels"}
    similarities = problem.inputs["drug_similarity"], problem.inputs["disease_similarity"]
    inputs = Inputs.of(
        problem.associations, *similarities, problem.training, k=chosen.pop("k"), shift=chosen.pop("shift")
    )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fit = train(inputs, device, dropout=dropout, told=problem.trace, **chosen)
    trace = {
        **{f"init.{name}": value.squeeze(0).numpy() for name, value in fit.init.items()},
        **inputs.told(),
        "logits_init_eval": fit.first.numpy(),
        "logits_after_10_nodropout_steps": fit.logits.numpy(),
        "losses_nodropout": np.array(fit.losses),
    }
    scores = torch.sigmoid(fit.logits).double().numpy()
    return Answer(scores, chosen["epoch"], trace if problem.trace else {})


run(fit_predict)
