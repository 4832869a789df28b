"""Precision, recall and F1 of combinations, in all documents and in parts of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.benchmarks.combos.answer import CombinationQuestion, Predictions
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.documents import LABELS
from harness.benchmarks.combos.metrics.evaluation import CreditPair, MatchRule
from harness.benchmarks.combos.metrics.rows import DocumentId, RelationRow, class_of
from harness.benchmarks.combos.metrics.scored_rows import (
    NEITHER,
    AskedDocument,
    RelationTruth,
    ScoredRows,
    drug_names,
    halves,
)
from harness.benchmarks.combos.names import BUCKETS, DEFINED, METRICS, PUBLISHED, RULES, flat_name
from harness.benchmarks.combos.splits.form import TEST, TRAIN, DocumentSplit
from harness.benchmarks.measures import Scoring

_BY_ZERO = "0, where the published code divides by zero: "
_NOTHING = {"precision": "nothing is predicted", "recall": "nothing is true", "F1": "nothing is predicted or true"}


def shares_of(credits: CreditPair) -> dict[str, float | None]:
    """Recall, precision and F1 of an evaluation, None where there is nothing to divide by."""
    recall, precision = credits.gold.mean, credits.predicted.mean
    if recall is None and precision is None:
        return {"recall": None, "precision": None, "F1": None}
    both = (recall or 0.0) + (precision or 0.0)
    f1 = 2 * (recall or 0.0) * (precision or 0.0) / both if both else 0.0
    return {"recall": recall, "precision": precision, "F1": f1}


def truth_on(dataset: CombosDataset, split: DocumentSplit, ids: Sequence[DocumentId]) -> RelationTruth:
    """The relations of the asked documents, in the order of the dataset; `ids` name the documents in rows."""
    asked: dict[DocumentId, AskedDocument] = {}
    drugs: dict[DocumentId, list[str]] = {}
    relations = []
    known = set()
    for own, document, part in zip(ids, dataset.documents, split.parts.tolist(), strict=True):
        texts = [drug.text for drug in document.drugs]
        if part == TRAIN:
            known |= {drug_names(texts, relation.spans) for relation in document.relations}
        elif part == TEST:
            needed = {relation.context_needed for relation in document.relations}
            drugs[own] = texts
            asked[own] = AskedDocument(len(texts), NEITHER if len(needed) > 1 else int(True in needed))
            relations += [RelationRow(own, one.spans, class_of(LABELS[one.label])) for one in document.relations]
    return RelationTruth(asked, relations, drugs, known)


def scored_rows(dataset: CombosDataset, split: DocumentSplit, answer: Predictions) -> ScoredRows:
    """The relations and predictions of the asked documents, which are called by their numbers."""
    truth = truth_on(dataset, split, range(len(dataset.documents)))
    answers = zip(truth.asked, answer, strict=True)
    return truth.beside(
        [RelationRow(own, one.spans, class_of(one.label)) for own, combinations in answers for one in combinations]
    )


class CombosScoring(Scoring[CombosDataset, DocumentSplit, Predictions]):
    """Micro-averages over all asked documents."""

    metrics = METRICS
    predicting = "unannotated"

    def question(
        self, dataset: CombosDataset, split: DocumentSplit, options: Mapping[str, int]
    ) -> CombinationQuestion:
        """How many drugs the asked documents have."""
        return CombinationQuestion(tuple(dataset.span_counts[split.asked].tolist()))

    def score(
        self, dataset: CombosDataset, split: DocumentSplit, answer: Predictions, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, float | None], dict[str, str]]:
        """Every metric, None where it is undefined, and the reason for each None or a 0 in its place."""
        rows = scored_rows(dataset, split, answer)
        values: dict[str, float | None] = {}
        notes: dict[str, str] = {}
        buckets = {bucket: rows.buckets(bucket, published=True) for bucket in BUCKETS}
        for name, rule in ((name, MatchRule(*own)) for name, own in RULES.items()):
            credits = {PUBLISHED: rows.evaluator.as_published(rule), DEFINED: rows.evaluator.as_defined(rule)}
            for kind, own in credits.items():
                for measure, value in shares_of(own).items():
                    metric = flat_name(name, measure, kind)
                    values[metric] = value
                    if value is None:
                        notes[metric] = _NOTHING[measure]
                    if kind == PUBLISHED and (value is None or (measure, value) == ("F1", 0)):
                        notes[metric] = _BY_ZERO + notes.get(metric, "nothing is right")
                        values[metric] = 0.0
            for bucket, parts in BUCKETS.items():
                for part, own in zip(parts, halves(credits[PUBLISHED], buckets[bucket]), strict=True):
                    for measure, items in zip(("recall", "precision"), own, strict=True):
                        metric = flat_name(name, measure, PUBLISHED, part)
                        values[metric] = items.mean
                        if items.mean is None:
                            notes[metric] = f"{_NOTHING[measure]} of this kind"
        return {metric.name: values[metric.name] for metric in METRICS}, notes

    def series(
        self, dataset: CombosDataset, split: DocumentSplit, answer: Predictions, parameters: Mapping[str, Any]
    ) -> dict[str, list[float | None]]:
        """The rows themselves: what compares runs draws from several of them."""
        return scored_rows(dataset, split, answer).to_series()


SCORING = CombosScoring()
