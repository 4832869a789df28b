"""MLP: a perceptron on the fingerprints of both drugs, as DDI-Ben runs it."""

from __future__ import annotations

from ddi_sdk import Answer, Problem, run
from ddi_training import device, fingerprints, fit, label_loss, type_weights, without_contradictions
from golden import parity
from network import Network


def fit_predict(problem: Problem) -> Answer:
    """The common trainer, one example per ordered pair or line."""
    given, where = problem.parameters, device()
    known = without_contradictions(problem) if given["clean_negatives"] else problem
    network = Network(
        fingerprints(known),
        known.types,
        hidden=given["hidden"],
        dropout=given["dropout"],
        multilabel=known.multilabel,
    ).to(where)
    weight = type_weights(known.train.labels).to(where) if known.multilabel else None
    loss = label_loss(weight)
    return fit(
        known,
        network,
        lambda batch: loss(network(batch.pairs), batch.target),
        network.scores,
        per_pair=True,
        drop_last=True,
    )


run(fit_predict, parity=parity)
