"""MSTE: drugs and types as vectors, scored by a sum of sines, as DDI-Ben runs it."""

from __future__ import annotations

from ddi_sdk import Answer, Problem, run
from ddi_training import cleaned, device, fit
from network import Network
from training import OtherPairs, OtherTypes


def fit_predict(problem: Problem) -> Answer:
    """The common trainer on triplets, each beside one that is not so."""
    given, where, problem = problem.parameters, device(), cleaned(problem)
    network = Network(
        problem.drugs,
        problem.types,
        dimension=given["dimension"],
        gamma=given["gamma"],
        dropout=given["dropout"],
        multilabel=problem.multilabel,
    ).to(where)
    examples = (OtherPairs if problem.multilabel else OtherTypes).of(problem, where)
    return fit(
        problem,
        network,
        lambda batch: examples.loss(network, batch),
        network.scores,
        per_pair=False,
        drop_last=True,
        train=examples.items,
    )


run(fit_predict)
