"""The whole method: candidates of training documents are learned, those of asked ones decided and decoded."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from combination_candidates import (
    ANSWERS,
    NO_COMB,
    Candidate,
    Drugs,
    candidate_sets,
    mask_of,
    training_candidates,
)
from combination_decoding import cover, greedy, weights_of
from combination_encoders import ENCODERS
from combination_features import predicted
from combination_orders import shuffled, split
from combination_training import Course, Fit, fit, new_model
from combos_sdk import Answer, Combination, Document, Problem
from marked_texts import MarkedText, marked_text
from permafrost_sdk import Array
from word_pieces import WordPieces

# of one document's candidates of one size, so many are decided before it is seen which need no decision any more
_CHUNK = 256
_TWO_CLASSES = ("NO_COMB", "POS")


@dataclass(frozen=True)
class Marked:
    """A candidate of one document."""

    text: MarkedText
    drugs: Drugs
    label: int


@dataclass(frozen=True)
class Reading:
    """How marked texts become token ids."""

    pieces: WordPieces
    context: bool
    window: int
    length: int

    @classmethod
    def of(cls, words: Sequence[str], parameters: Mapping[str, Any]) -> Reading:
        """With an encoder's vocabulary."""
        vocabulary = {word: number for number, word in enumerate(words)}
        settings = (parameters[name] for name in ("context", "window", "length"))
        return cls(WordPieces(vocabulary), *settings)

    def texts(self, documents: Sequence[Document]) -> list[MarkedText]:
        """The sentences, or the paragraphs around them."""
        return [marked_text(one, self.context) for one in documents]

    def rows(self, candidates: Sequence[Marked]) -> Rows:
        """Their token ids."""
        return Rows(self, candidates)


@dataclass(frozen=True)
class Rows:
    """Candidates as token ids, made whenever they are asked for: thousands share one document's pieces."""

    reading: Reading
    candidates: Sequence[Marked]

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, number: int) -> Array:
        one, reading = self.candidates[number], self.reading
        return reading.pieces.row(one.text, one.drugs, reading.window, reading.length).ids


@dataclass
class Decided:
    """An asked document: which candidates are to come, the largest first, and what was said of the others."""

    text: MarkedText
    open: list[Drugs]
    sets: list[Drugs] = field(default_factory=list)
    chances: list[list[float]] = field(default_factory=list)

    def next(self) -> list[Drugs]:
        """Some of one size."""
        size = len(self.open[0])
        return [one for one in self.open[:_CHUNK] if len(one) == size]

    def take(self, sets: Sequence[Drugs], chances: Sequence[list[float]], *, greedily: bool) -> None:
        """Note what was said of the next.

        Greedily, whatever shares a drug with a larger set that is kept never is, so nobody needs to decide it.
        """
        self.sets += sets
        self.chances += chances
        self.open = self.open[len(sets) :]
        if greedily and any(label_of(one) != NO_COMB for one in chances):
            labels = list(map(label_of, self.chances))
            taken = sum(
                mask_of(self.sets[place]) for place in greedy(self.sets, labels) if labels[place] != NO_COMB
            )
            self.open = [one for one in self.open if not mask_of(one) & taken]


def fit_predict(problem: Problem) -> Answer:
    """Train on the problem's documents and answer those that are asked for."""
    encoder = ENCODERS[problem.parameters["encoder"]]()
    reading = Reading.of(encoder.words, problem.parameters)
    train, held_out = divided(problem, reading.texts(problem.train))
    # where the original's stream begins
    torch.manual_seed(problem.seed)
    model = new_model(encoder.bert(), int(problem.parameters["classes"]))
    course = Course.of(problem.parameters)
    labels = [[one.label for one in some] for some in (train, held_out)]
    result = fit(model, course, reading.rows(train), labels[0], reading.rows(held_out), labels[1])
    return Answer(list(answered(result, problem, reading)), result.epoch, result.losses)


def sets_of(document: Document, parameters: Mapping[str, Any]) -> Sequence[Drugs]:
    """The candidates of a document."""
    return candidate_sets(document, int(parameters["pruned_above"]), int(parameters["reach"]))


def divided(problem: Problem, texts: Sequence[MarkedText]) -> tuple[list[Marked], list[Marked]]:
    """Candidates to train on and those held out: a share of all candidates, or all of a share of documents."""
    parameters = problem.parameters
    generator, share = random.Random(problem.seed), float(parameters["held_out"])
    documents = [
        [Marked(text, one.drugs, one.label) for one in _candidates(document, parameters, generator)]
        for document, text in zip(problem.train, texts, strict=True)
    ]
    generator = random.Random(problem.seed)
    if parameters["held_out_by"] == "documents":
        train, held_out = split(documents, problem.seed, share)
        return shuffled([one for own in train for one in own], generator), [one for own in held_out for one in own]
    rows = [one for own in documents for one in own]
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


def answered(result: Fit, problem: Problem, reading: Reading) -> Iterator[list[Combination]]:
    """The combinations that decoding keeps of each document."""
    greedily = problem.parameters["decoding"] == "greedy"
    names = _TWO_CLASSES if int(problem.parameters["classes"]) == len(_TWO_CLASSES) else ANSWERS
    documents = [
        Decided(text, largest_first(sets_of(document, problem.parameters)))
        for document, text in zip(problem.asked, reading.texts(problem.asked), strict=True)
    ]
    decide(documents, lambda some: predicted(result.model, reading.rows(some), result.device), greedily=greedily)
    for one in documents:
        if greedily:
            labels = list(map(label_of, one.chances))
            kept = greedy(one.sets, labels)
        else:
            labels = [1 + label_of(own[1:]) for own in one.chances]
            kept = cover(one.sets, weights_of(one.chances))
        yield [Combination(one.sets[at], names[labels[at]], one.chances[at][labels[at]]) for at in kept]


def decide(documents: Sequence[Decided], predict: Callable[[Sequence[Marked]], Array], *, greedily: bool) -> None:
    """Predict all documents' candidates, the largest of each first, together."""
    while some := [(one, one.next()) for one in documents if one.open]:
        chances = iter(
            predict([Marked(one.text, drugs, NO_COMB) for one, sets in some for drugs in sets]).tolist()
        )
        for one, sets in some:
            one.take(sets, [next(chances) for _ in sets], greedily=greedily)


def largest_first(sets: Sequence[Drugs]) -> list[Drugs]:
    """In the order of greedy decoding."""
    return sorted(sets, key=lambda one: (len(one), str(list(one))), reverse=True)


def label_of(chances: Sequence[float]) -> int:
    """The most probable class, the first of equal ones."""
    return max(range(len(chances)), key=chances.__getitem__)
