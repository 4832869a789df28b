"""MSTE: drugs and types as vectors, scored by a sum of sines, as DDI-Ben runs it."""

from __future__ import annotations

from ddi_sdk import Answer, Problem, run
from ddi_training import device, fit, without_contradictions
from golden import parity
from network import Network
from training import OtherPairs, OtherTypes


def fit_predict(problem: Problem) -> Answer:
    """The common trainer on triplets, each beside one that is not so."""
    given, where = problem.parameters, device()
    network = Network(
        problem.drugs,
        problem.types,
        dimension=given["dimension"],
        gamma=given["gamma"],
        dropout=given["dropout"],
        multilabel=problem.multilabel,
    ).to(where)
    known = without_contradictions(problem) if given["clean_negatives"] else problem
    examples = (OtherPairs if problem.multilabel else OtherTypes).of(known, where)
    return fit(
        examples.problem,
        network,
        lambda batch: examples.loss(network, batch),
        network.scores,
        per_pair=False,
        drop_last=True,
    )


run(fit_predict, parity=parity)
