"""NIMCGCN: graph convolutions over the similarities of diseases and of drugs, on random node features."""

from __future__ import annotations

import numpy as np
import torch
from network import normalised_graph
from repurposing_sdk import Answer, Problem, run
from training import train

torch.use_deterministic_algorithms(True)
torch.utils.deterministic.fill_uninitialized_memory = False


def fit_predict(problem: Problem) -> Answer:
    """Fit on diseases x drugs, score drugs x diseases."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    M = torch.from_numpy((problem.associations.T == 1).astype(np.float32)).to(device)
    graphs = [
        normalised_graph(torch.from_numpy(problem.inputs[name].astype(np.float32))).to(device)
        for name in ("disease_similarity", "drug_similarity")
    ]
    fit = train(M, *graphs, **problem.parameters)
    trace = {}
    if problem.trace:
        for when, (diseases, drugs) in (("first", fit.noise[0]), ("predict", fit.noise[-1])):
            trace[f"noise_{when}_m"], trace[f"noise_{when}_d"] = diseases.numpy(), drugs.numpy()
        for when, weights in (("init", fit.init), ("final", fit.final)):
            trace |= {f"{when}.{name}": value.numpy() for name, value in weights.items()}
    return Answer(fit.scores.T.double().numpy(), problem.parameters["epoch"], trace)


run(fit_predict)
