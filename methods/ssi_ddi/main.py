"""SSI-DDI: substructures found by graph attention, and their interactions, as DDI-Ben runs it."""

from __future__ import annotations

from ddi_sdk import Answer, Problem, run
from ddi_training import cleaned, device, fit, loss_of_labels
from drug_pairs import DrugPairs, molecules_in
from substructures import Network


def fit_predict(problem: Problem) -> Answer:
    """The common trainer, one example per item."""
    problem = cleaned(problem)
    network = Network(problem.types, problem.parameters["hidden"]).to(device())
    pairs, loss = DrugPairs(network, molecules_in(problem)), loss_of_labels(problem)
    return fit(
        problem,
        network,
        lambda batch: loss(pairs.judge(batch.pairs)[0], batch.target),
        pairs.scores,
        per_pair=False,
        drop_last=False,
    )


run(fit_predict)
