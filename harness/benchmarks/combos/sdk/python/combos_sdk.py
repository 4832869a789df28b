"""What a method of benchmark `combos` sees of the harness: sentences come in, combinations of their drugs go out.

A method's `main.py` ends with `run(fit_predict)`. Relations of asked documents can't be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from permafrost_sdk import Given, Job, perform, write_jsonl

__all__ = ["LABELS", "Answer", "Combination", "Document", "Problem", "Relation", "Span", "run"]

# classes of a relation by their number in the input `relations`; answers are POS, COMB or NO_COMB
LABELS = ("NO_COMB", "COMB", "POS", "NEG")
_ANSWERS = ("POS", "COMB", "NO_COMB")


@dataclass(frozen=True)
class Span:
    """A drug: its first character in the sentence, the one behind its last, its text ("" where not declared)."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Relation:
    """Drugs by their places in `Document.spans`, as listed, and COMB, POS or NEG."""

    spans: tuple[int, ...]
    label: str


@dataclass(frozen=True)
class Document:
    """A sentence and its drugs. `paragraph` is "" where not declared; an asked document has no relations."""

    sentence: str
    paragraph: str
    spans: tuple[Span, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True)
class Problem:
    """What a method may know. `inputs` are those its card declares beside the documents, by name."""

    train: tuple[Document, ...]
    asked: tuple[Document, ...]
    inputs: Mapping[str, Given]
    parameters: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Combination:
    """Drugs by their places in `Document.spans`, POS, COMB or NO_COMB, and how certain that is, from 0 to 1."""

    spans: Sequence[int]
    label: str
    score: float


@dataclass(frozen=True)
class Answer:
    """The combinations of each asked document in their order, and what there is to say of the fit."""

    combinations: Sequence[Sequence[Combination]]
    epochs: int = 0
    losses: Sequence[float] = ()


def run(fit_predict: Callable[[Problem], Answer]) -> None:
    """Do the job."""
    perform(_Model, fit_predict)


class _Model:
    """The one model of a job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._problem = _problem(job)
        self._report: dict[str, Any] = {}

    def problems(self) -> Iterator[Problem]:
        yield self._problem

    def keep(self, answer: Answer) -> None:
        pairs = zip(self._problem.asked, answer.combinations, strict=True)
        rows = [{"combinations": [_row(one, document) for one in own]} for document, own in pairs]
        write_jsonl(self._job.out / "combinations.jsonl", rows)
        losses = [float(loss) if math.isfinite(loss) else None for loss in answer.losses]
        self._report = {"iterations": [answer.epochs], "losses": losses}

    def report(self) -> dict[str, Any]:
        return self._report


def _row(one: Combination, document: Document) -> dict[str, Any]:
    """The combination as it is written, its drugs in ascending order."""
    spans = sorted(map(int, one.spans))
    if len({*spans}) < max(2, len(spans)) or not 0 <= spans[0] <= spans[-1] < len(document.spans):
        raise ValueError(f"{spans} are not two or more different drugs of the {len(document.spans)}")
    if one.label not in _ANSWERS or not 0 <= one.score <= 1:
        raise ValueError(f"'{one.label}' is not {', '.join(_ANSWERS)}, or {one.score} is not from 0 to 1")
    return {"spans": spans, "label": one.label, "score": float(one.score)}


def _problem(job: Job) -> Problem:
    inputs = dict(job.inputs)
    sentences = inputs.pop("sentences")
    spans, relations, members = (np.asarray(inputs.pop(name)) for name in ("spans", "relations", "relation_spans"))
    train, asked = (np.asarray(inputs.pop(name)).tolist() for name in ("train", "asked"))
    paragraphs = inputs.pop("paragraphs", [""] * len(sentences))
    texts = inputs.pop("span_texts", [""] * len(spans))
    drugs: list[list[Span]] = [[] for _ in sentences]
    for (document, start, end), text in zip(spans.tolist(), texts, strict=True):
        drugs[document].append(Span(start, end, text))
    listed: list[list[int]] = [[] for _ in relations]
    for relation, drug in members.tolist():
        listed[relation].append(drug)
    annotated: list[list[Relation]] = [[] for _ in sentences]
    for (document, label, *_), own in zip(relations.tolist(), listed, strict=True):
        annotated[document].append(Relation(tuple(own), LABELS[label]))
    documents = [
        Document(sentence, paragraph, tuple(own), tuple(seen))
        for sentence, paragraph, own, seen in zip(sentences, paragraphs, drugs, annotated, strict=True)
    ]
    return Problem(
        train=tuple(documents[place] for place in train),
        asked=tuple(documents[place] for place in asked),
        inputs=inputs,
        parameters=job.parameters,
        seed=job.seed,
    )
