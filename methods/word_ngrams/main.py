"""Control: logistic regression on word n-grams around a candidate's drugs, decoded by the cover of most weight."""

from __future__ import annotations

from classifier import Classifier
from combination_candidates import ANSWERS, candidate_sets, training_candidates
from combination_decoding import cover, weights_of
from combos_sdk import Answer, Combination, Document, Problem, run


def fit_predict(problem: Problem) -> Answer:
    """Classes of candidates, of which no two that share a drug are answered."""
    pruning = int(problem.parameters["pruned_above"]), int(problem.parameters["reach"])
    train = [(one, training_candidates(candidate_sets(one, *pruning), one.relations)) for one in problem.train]
    if not any(own for _, own in train):
        return Answer([[] for _ in problem.asked])
    classifier = Classifier(train, problem.parameters)

    def combinations_of(document: Document) -> list[Combination]:
        sets = candidate_sets(document, *pruning)
        chances = classifier.chances(document, sets).tolist()
        best = [max(range(1, len(ANSWERS)), key=own.__getitem__) for own in chances]
        kept = cover(sets, weights_of(chances))
        return [Combination(sets[at], ANSWERS[best[at]], min(1.0, chances[at][best[at]])) for at in kept]

    answers = [combinations_of(document) for document in problem.asked]
    return Answer(answers, len(classifier.losses) - 1, classifier.losses)


run(fit_predict)
