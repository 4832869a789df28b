"""Decagon: a graph of interactions and knowledge, convolved twice, and a bilinear decoder, as DDI-Ben runs it."""

from __future__ import annotations

import warnings

from ddi_sdk import Answer, Problem, run
from ddi_training import device, fit, label_loss, type_weights, without_contradictions
from golden import parity
from neighbours import features_of, graph_of
from network import Network
from torch.nn import functional


def fit_predict(problem: Problem) -> Answer:
    """The common trainer, one example per ordered pair or line."""
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
    given, where = problem.parameters, device()
    known = without_contradictions(problem) if given["clean_negatives"] else problem
    graph, nodes = graph_of(known)
    network = Network(
        graph,
        features_of(known, graph, nodes),
        known.types,
        hidden=given["hidden"],
        dropout=given["dropout"],
    ).to(where)
    weight = type_weights(known.train.labels).to(where) if known.multilabel else None
    loss = label_loss(weight, functional.cross_entropy)
    return fit(
        known,
        network,
        lambda batch: loss(network(batch.pairs), batch.target),
        network.scores,
        per_pair=True,
        drop_last=True,
    )


run(fit_predict, parity=parity)
