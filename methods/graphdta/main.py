"""GraphDTA: a molecule's graph and a protein's letters predict how strongly they bind."""

from __future__ import annotations

from affinity_training import examples_of, predicted, train_epochs
from dti_sdk import Answer, Problem, run
from pair_model import GraphDTA


def fit_predict(problem: Problem) -> Answer:
    """The epoch is chosen by a share of the training pairs."""
    inputs, parameters = problem.inputs, problem.parameters
    model = GraphDTA(inputs["smiles"], inputs["sequences"], parameters["network"], parameters["dropout"])
    train, valid = examples_of(problem)
    losses = train_epochs(model, train, valid, problem)
    return Answer(predicted(model, problem.test_pairs), len(losses), losses)


run(fit_predict)
