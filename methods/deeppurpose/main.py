"""DeepPurpose: the package's encoders, networks and training on the pairs of a problem."""

from __future__ import annotations

import numpy as np
from dti_sdk import Answer, Problem, held_back, run, with_negatives
from package import network_of
from sides import with_tables
from training import Task, answers, fit


def fit_predict(problem: Problem) -> Answer:
    """Train on bindings and drawn negatives, or on affinities; score the test pairs."""
    parameters = problem.parameters
    generator = np.random.default_rng(problem.seed)
    known = with_negatives(problem, parameters["negatives"], generator)
    train, valid = held_back(known, parameters["validation"], generator)
    encodings = (parameters["drug_encoding"], parameters["target_encoding"])
    network = network_of(*encodings)
    with_tables(network, encodings, (problem.inputs["smiles"], problem.inputs["sequences"]))
    losses = fit(network, train, valid, parameters)
    scores = answers(network, Task.of(train.values), problem.test_pairs, parameters["batch_size"])
    return Answer(scores, parameters["epochs"], losses)


run(fit_predict)
