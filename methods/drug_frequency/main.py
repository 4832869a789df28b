"""Control: types by how often the pair's drugs have them in training, each drug by itself."""

from __future__ import annotations

import numpy as np
from ddi_sdk import Answer, Array, Problem, run


def fit_predict(problem: Problem) -> Answer:
    """The share of a type among the training items of both drugs; where they have none, among all."""
    positives, told = counts(problem)
    heads, tails = problem.test_pairs.T
    of_pair, said = positives[heads] + positives[tails], told[heads] + told[tails]
    # each item was counted for both of its drugs
    overall = positives.sum(axis=0) / np.maximum(told.sum(axis=0), 1)
    return Answer(np.where(said > 0, of_pair / np.maximum(said, 1), overall), epochs=0, chosen={})


def counts(problem: Problem) -> tuple[Array, Array]:
    """For each drug and type: items that have the type, and items that say anything of it."""
    positives, told = (np.zeros((problem.drugs, problem.types), dtype=np.int64) for _ in range(2))
    labels = problem.train.labels
    for drugs in problem.train.pairs.T:
        if problem.multilabel:
            np.add.at(positives, drugs, labels > 0)
            np.add.at(told, drugs, labels != 0)
        else:
            np.add.at(positives, (drugs, labels), 1)
            np.add.at(told, drugs, 1)
    return positives, told


run(fit_predict)
