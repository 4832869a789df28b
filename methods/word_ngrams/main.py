"""Control: logistic regression on word n-grams around a candidate's drugs, decoded by the cover of most weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from combination_candidates import (
    ANSWERS,
    NO_COMB,
    Drugs,
    candidate_sets,
    training_candidates,
)
from combination_decoding import cover, weights_of
from combos_sdk import Answer, Combination, Document, Problem, run
from logistic import Rows, chances_of, fitted
from ngrams import features, frequent, sentence_of


def fit_predict(problem: Problem) -> Answer:
    """Classes of candidates, of which no two that share a drug are answered."""
    longest = int(problem.parameters["longest"])
    trained = [
        (document, training_candidates(sets_of(problem, document), document.relations))
        for document in problem.train
    ]
    names = [row for document, own in trained for row in rows_of(document, [one.drugs for one in own], longest)]
    numbers = frequent(names, int(problem.parameters["least"]))
    labels = np.array([one.label for _, own in trained for one in own], dtype=np.int64)
    if not len(labels):
        return Answer([[] for _ in problem.asked])
    rows = Rows([[numbers[name] for name in row if name in numbers] for row in names], len(numbers))
    settings = float(problem.parameters["penalty"]), int(problem.parameters["steps"])
    weights, losses = fitted(rows, labels, len(ANSWERS), *settings)

    def combinations_of(document: Document) -> list[Combination]:
        sets = sets_of(problem, document)
        if not sets:
            return []
        known = [[numbers[name] for name in row if name in numbers] for row in rows_of(document, sets, longest)]
        chances = chances_of(Rows(known, len(numbers)), weights)
        kept = cover(sets, weights_of(chances.tolist()))
        best = NO_COMB + 1 + chances[:, NO_COMB + 1 :].argmax(axis=1)
        return [Combination(sets[at], ANSWERS[best[at]], min(1.0, float(chances[at, best[at]]))) for at in kept]

    return Answer([combinations_of(document) for document in problem.asked], len(losses) - 1, losses)


def sets_of(problem: Problem, document: Document) -> Sequence[Drugs]:
    """The candidates of a document."""
    return candidate_sets(document, int(problem.parameters["pruned_above"]), int(problem.parameters["reach"]))


def rows_of(document: Document, sets: Sequence[Drugs], longest: int) -> list[list[str]]:
    """What each candidate has."""
    sentence = sentence_of(document)
    return [features(sentence, drugs, longest) for drugs in sets]


run(fit_predict)
