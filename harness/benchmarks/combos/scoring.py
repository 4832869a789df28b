"""Exact F1 of combinations: the sets of drugs that are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.benchmarks.combos.answer import CombinationQuestion, Predictions
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.documents import LABELS, NO_COMB, POS
from harness.benchmarks.combos.names import EXACT, METRICS
from harness.benchmarks.combos.splits.form import DocumentSplit
from harness.benchmarks.measures import Scoring


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
        """Exact F1 of positive and of all combinations; 0 without one."""
        documents = [dataset.documents[place] for place in split.asked]
        values: dict[str, float | None] = {}
        for kind, labels in (("positive", {LABELS[POS]}), ("any", {*LABELS[NO_COMB + 1 :]})):
            truth = {
                (number, frozenset(one.spans))
                for number, document in enumerate(documents)
                for one in document.relations
                if LABELS[one.label] in labels
            }
            named = {
                (number, frozenset(one.spans))
                for number, combinations in enumerate(answer)
                for one in combinations
                if one.label in labels
            }
            total = len(truth) + len(named)
            values[f"{EXACT} {kind}"] = 2 * len(truth & named) / total if total else 0.0
        return values, {}


SCORING = CombosScoring()
