"""The whole method: candidates of the training documents are learned, those of the asked ones decided and decoded."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from combination_candidates import (
    ANSWERS,
    NO_COMB,
    Candidate,
    Drugs,
    all_sets,
    mask_of,
    near_sets,
    training_candidates,
)
from combination_decoding import cover, greedy, weights_of
from combination_features import predicted
from combination_orders import shuffled, split
from combination_training import Course, Fit, device, fit, new_model
from combination_weights import load_bert, words_of
from combos_sdk import Answer, Combination, Document, Problem
from marked_tokens import MarkedTokens
from permafrost_sdk import Array

# of one document's candidates of one size, so many are decided before it is seen which need no decision any more
_CHUNK = 256
_TWO_CLASSES = ("NO_COMB", "POS")


@dataclass(frozen=True)
class Row:
    """A candidate of one document."""

    document: MarkedTokens
    drugs: Drugs
    label: int


@dataclass(frozen=True)
class Rows:
    """Candidates as token ids, made whenever they are asked for: thousands of texts share one document's pieces."""

    rows: Sequence[Row]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> Array:
        row = self.rows[number]
        return row.document.ids(row.drugs)


@dataclass
class Decided:
    """An asked document: which candidates are to come, the largest first, and what was said of the others."""

    document: MarkedTokens
    open: list[Drugs]
    sets: list[Drugs] = field(default_factory=list)
    chances: list[list[float]] = field(default_factory=list)

    def next(self) -> list[Drugs]:
        """Some of one size."""
        size = len(self.open[0])
        return [one for one in self.open[:_CHUNK] if len(one) == size]

    def take(self, sets: Sequence[Drugs], chances: Sequence[list[float]], *, greedily: bool) -> None:
        """Note what was said of the next. Greedily, whatever shares a drug with one of them that is a combination, or
        with a larger, is never kept, so nobody needs to decide it.
        """
        self.sets += sets
        self.chances += chances
        self.open = self.open[len(sets) :]
        if greedily and any(label_of(one) != NO_COMB for one in chances):
            labels = list(map(label_of, self.chances))
            taken = sum(mask_of(self.sets[place]) for place in greedy(self.sets, labels) if labels[place] != NO_COMB)
            self.open = [one for one in self.open if not mask_of(one) & taken]


def fit_predict(problem: Problem, encoder: Path) -> Answer:
    """Train on the problem's documents and answer those that are asked for, with the encoder of a folder."""
    parameters = problem.parameters
    words = words_of(encoder)

    def marked(documents: Sequence[Document]) -> list[MarkedTokens]:
        return [
            MarkedTokens(
                one, words, context=parameters["context"], window=parameters["window"], length=parameters["length"]
            )
            for one in documents
        ]

    train, held_out = divided(problem, marked(problem.train))
    # as the original's stream stands when it makes its model
    torch.manual_seed(problem.seed)
    model = new_model(load_bert(encoder), int(parameters["classes"]))
    result = fit(
        model,
        Rows(train),
        [row.label for row in train],
        Course.of(parameters),
        Rows(held_out),
        [row.label for row in held_out],
    )
    return Answer(list(answered(result, problem, marked(problem.asked))), result.epoch, result.losses)


def sets_of(document: Document, parameters: Mapping[str, Any]) -> Sequence[Drugs]:
    """The candidates of a document: all sets of its drugs, or of many drugs those that stand near each other."""
    count, most = len(document.spans), int(parameters["pruned_above"])
    if not most or count <= most:
        return all_sets(count)
    order = sorted(range(count), key=lambda drug: (document.spans[drug].start, drug))
    return near_sets(order, int(parameters["reach"]))


def divided(problem: Problem, texts: Sequence[MarkedTokens]) -> tuple[list[Row], list[Row]]:
    """Candidates to train on and those that are held out: a share of all candidates, or all of a share of documents."""
    parameters = problem.parameters
    generator, share = random.Random(problem.seed), float(parameters["held_out"])
    documents = [
        [Row(text, one.drugs, one.label) for one in _candidates(document, parameters, generator)]
        for document, text in zip(problem.train, texts, strict=True)
    ]
    generator = random.Random(problem.seed)
    if parameters["held_out_by"] == "documents":
        train, held_out = split(documents, problem.seed, share)
        return shuffled([row for own in train for row in own], generator), [row for own in held_out for row in own]
    rows = [row for own in documents for row in own]
    return split(shuffled(rows, generator), problem.seed, share)


def _candidates(
    document: Document, parameters: Mapping[str, Any], generator: random.Random
) -> Iterator[Candidate]:
    """What is trained on of one document: its relations, and at most so many other sets, drawn."""
    if len(document.spans) > int(parameters["most_drugs_trained"]):
        return
    candidates = training_candidates(sets_of(document, parameters), document.relations)
    others = [one for one in candidates if one.label == NO_COMB]
    most = int(parameters["most_others"])
    if most and len(others) > most:
        others = generator.sample(others, most)
    two = int(parameters["classes"]) == len(_TWO_CLASSES)
    for one in [one for one in candidates if one.label != NO_COMB] + others:
        yield Candidate(one.drugs, int(ANSWERS[one.label] == "POS")) if two else one


def answered(
    result: Fit, problem: Problem, texts: Sequence[MarkedTokens]
) -> Iterator[list[Combination]]:
    """The combinations that decoding keeps of each document."""
    greedily = problem.parameters["decoding"] == "greedy"
    names = _TWO_CLASSES if int(problem.parameters["classes"]) == len(_TWO_CLASSES) else ANSWERS
    documents = [
        Decided(text, largest_first(sets_of(document, problem.parameters)))
        for document, text in zip(problem.asked, texts, strict=True)
    ]
    decide(documents, lambda rows: predicted(result.model, Rows(rows), result.device), greedily=greedily)
    for one in documents:
        if greedily:
            labels = list(map(label_of, one.chances))
            kept = greedy(one.sets, labels)
        else:
            labels = [1 + label_of(own[1:]) for own in one.chances]
            kept = cover(one.sets, weights_of(one.chances))
        yield [Combination(one.sets[at], names[labels[at]], one.chances[at][labels[at]]) for at in kept]


def decide(documents: Sequence[Decided], predict: Callable[[Sequence[Row]], Array], *, greedily: bool) -> None:
    """Predict all documents' candidates, the largest of each first, together."""
    while some := [(one, one.next()) for one in documents if one.open]:
        chances = iter(predict([Row(one.document, drugs, NO_COMB) for one, sets in some for drugs in sets]).tolist())
        for one, sets in some:
            one.take(sets, [next(chances) for _ in sets], greedily=greedily)


def largest_first(sets: Sequence[Drugs]) -> list[Drugs]:
    """In the order of greedy decoding."""
    return sorted(sets, key=lambda one: (len(one), str(list(one))), reverse=True)


def label_of(chances: Sequence[float]) -> int:
    """The most probable class, the first of equal ones."""
    return max(range(len(chances)), key=chances.__getitem__)
