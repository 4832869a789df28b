"""Every metric of both kinds, from predictions and the truth, with a reason for each that is undefined.

Nothing here raises for a degenerate set of pairs: an undefined metric is None, and a reason says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.benchmarks.measures import Scoring
from harness.benchmarks.repurposing.answer import FoldQuestion, Predictions
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.metrics import as_defined, as_published, selection
from harness.benchmarks.repurposing.metrics.pairs import Labels, Pairs
from harness.benchmarks.repurposing.names import DEFINED, METRICS, PUBLISHED, flat_name
from harness.benchmarks.repurposing.splits.folds import TEST, Folds, FoldSplit

_REASONS = {
    "NS-AUC/as-published": "no drug has exactly two kinds of labels, +1 among them, in the test set",
    "NS-AUC/as-defined": "no disease has two different labels in the test set",
    "AUC": "the test set does not have both positives and others",
    "disease-wise AUC/as-published": "no disease has exactly two kinds of labels, +1 among them, in the test set",
    "disease-wise AUC/as-defined": "no disease has both positives and others in the test set",
    "drug-wise AUC/as-published": "no drug has exactly two kinds of labels, +1 among them, in the test set",
    "drug-wise AUC/as-defined": "no drug has both positives and others in the test set",
    "NDCG/as-published": "no disease has exactly two kinds of labels, +1 among them, in the test set",
    "NDCG/as-defined": "no disease has a positive in the test set",
    "F-score": "no disease has exactly two kinds of labels, +1 among them, in the test set",
    "accuracy": "no label is known in the test set",
}
_NO_POSITIVE = "there is no positive in the test set"


@dataclass(frozen=True)
class Choice:
    """The chosen inner models and the values they were chosen by."""

    published: int
    defined: int
    published_values: tuple[float | None, ...] = ()
    defined_values: tuple[float | None, ...] = ()


def score_predictions(
    associations: Labels, folds: Folds, predictions: Predictions
) -> tuple[dict[str, float | None], dict[str, str]]:
    """All metrics by flat name, and notes: why one is None, and what was chosen."""
    chosen = choose(associations, folds, predictions)
    inside = folds == TEST
    labels = associations[inside]
    number = chosen.published
    published_scores = as_published.without_zeros(predictions.test[number], float(predictions.lowest[number]))
    published = Pairs(inside, labels, published_scores)
    defined = Pairs(inside, labels, predictions.test[chosen.defined])
    metrics = {
        **_named(as_published.metrics(published), PUBLISHED),
        **_named(as_defined.metrics(defined), DEFINED),
    }
    notes = {name: _reason(name) for name, value in metrics.items() if value is None}
    return metrics, {**notes, **_selection_notes(chosen)}


def choose(associations: Labels, folds: Folds, predictions: Predictions) -> Choice:
    """The inner model of either kind; the only one where there are no inner folds."""
    if predictions.validation is None:
        return Choice(0, 0)
    training = folds >= 0
    diseases, dealt, labels = np.nonzero(training)[1], folds[training], associations[training]
    models = [
        selection.HeldOut(diseases[own], labels[own], predictions.validation[own])
        for own in (dealt == number for number in range(len(predictions.test)))
    ]
    by_published = selection.published_values(models, predictions.lowest.tolist(), folds.shape[1])
    by_defined = selection.defined_values(models)
    return Choice(
        published=selection.first_best(by_published),
        defined=selection.first_best(by_defined),
        published_values=tuple(by_published),
        defined_values=tuple(by_defined),
    )


def _named(metrics: dict[str, float | None], kind: str) -> dict[str, float | None]:
    return {flat_name(name, kind): value for name, value in metrics.items()}


def _reason(name: str) -> str:
    return _REASONS.get(name) or _REASONS.get(name.rpartition("/")[0]) or _NO_POSITIVE


def _selection_notes(chosen: Choice) -> dict[str, str]:
    if not chosen.published_values:
        return {}
    return {
        f"inner model/{PUBLISHED}": _told(chosen.published, chosen.published_values),
        f"inner model/{DEFINED}": _told(chosen.defined, chosen.defined_values),
    }


def _told(model: int, values: Sequence[float | None]) -> str:
    shown = ", ".join("none" if value is None else f"{value:.6f}" for value in values)
    return f"{model}, chosen among {shown}"


class RepurposingScoring(Scoring[RepurposingDataset, FoldSplit, Predictions]):
    """Metrics of both kinds, each over the inner model that it chooses."""

    metrics = METRICS
    predicting = "unknown_pairs"

    def question(self, dataset: RepurposingDataset, split: FoldSplit, options: Mapping[str, int]) -> FoldQuestion:
        """The pairs that the matrix of folds marks; it also tells which inner model does not see a pair."""
        return FoldQuestion(split.folds, options["inner_folds"])

    def score(
        self, dataset: RepurposingDataset, split: FoldSplit, answer: Predictions, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, float | None], dict[str, str]]:
        """Every metric, None where it is undefined, and the reason for each None."""
        return score_predictions(dataset.associations, split.folds, answer)


SCORING = RepurposingScoring()
