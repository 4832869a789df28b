"""Decagon: a graph of interactions and knowledge, convolved twice, and a bilinear decoder, as DDI-Ben runs it."""

from __future__ import annotations

import warnings

from ddi_sdk import Answer, Problem, run
from ddi_training import cleaned, device, fit, loss_of_labels
from neighbours import features_of, graph_of
from network import Network
from torch.nn import functional


def fit_predict(problem: Problem) -> Answer:
    """The common trainer, one example per ordered pair or line."""
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
    given, problem = problem.parameters, cleaned(problem)
    graph, nodes = graph_of(problem)
    network = Network(
        graph,
        features_of(problem, graph, nodes),
        problem.types,
        hidden=given["hidden"],
        dropout=given["dropout"],
    ).to(device())
    loss = loss_of_labels(problem, functional.cross_entropy)
    return fit(
        problem,
        network,
        lambda batch: loss(network(batch.pairs), batch.target),
        network.scores,
        per_pair=True,
        drop_last=True,
    )


run(fit_predict)
