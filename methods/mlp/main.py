"""MLP: a perceptron on the fingerprints of both drugs, as DDI-Ben runs it."""

from __future__ import annotations

from ddi_sdk import Answer, Problem, run
from ddi_training import cleaned, device, fingerprints, fit, loss_of_labels
from network import Network


def fit_predict(problem: Problem) -> Answer:
    """The common trainer, one example per ordered pair or line."""
    given, problem = problem.parameters, cleaned(problem)
    network = Network(
        fingerprints(problem),
        problem.types,
        hidden=given["hidden"],
        dropout=given["dropout"],
        multilabel=problem.multilabel,
    ).to(device())
    loss = loss_of_labels(problem)
    return fit(
        problem,
        network,
        lambda batch: loss(network(batch.pairs), batch.target),
        network.scores,
        per_pair=True,
        drop_last=True,
    )


run(fit_predict)
