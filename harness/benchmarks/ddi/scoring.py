"""Every metric of both settings and kinds, from predictions and the truth, or the reason why there is none.

Nothing here raises for a degenerate test set: an undefined metric is None, and a reason says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.benchmarks.ddi.answer import PairQuestion, Scores, question_on
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.metrics import multiclass, multilabel
from harness.benchmarks.ddi.metrics.evaluation import evaluation_of
from harness.benchmarks.ddi.metrics.multiclass import Value
from harness.benchmarks.ddi.metrics.rows import Rows, rows_of
from harness.benchmarks.ddi.names import (
    DEFINED,
    METRICS,
    PUBLISHED,
    SETTING_NAMES,
    TYPE_ACCURACY,
    flat_name,
)
from harness.benchmarks.ddi.splits.parts import PartSplit
from harness.benchmarks.measures import Scoring

_OTHER_KIND = {
    False: "not a metric where an item has one type",
    True: "not a metric where a pair has several types at once",
}


def score_predictions(
    dataset: DdiDataset, split: PartSplit, predictions: Scores, parameters: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """All metrics by flat name, and notes: why one is None, and what a mean leaves out."""
    how = evaluation_of(parameters)
    rows = rows_of(dataset, split, predictions, how)
    values: dict[str, Value] = {metric.name: _OTHER_KIND[dataset.multilabel] for metric in METRICS}
    notes: dict[str, str] = {}
    for (setting, kind), own in rows.items():
        if not dataset.multilabel:
            found = _one_type(own, over_truth=kind == DEFINED)
        elif kind == PUBLISHED:
            found = multilabel.as_published(_by_type(own), empty_is_zero=how.empty_is_zero)
        else:
            found = multilabel.as_defined(types := _by_type(own))
            decided = int(types.decided.sum())
            notes[f"{setting} types/{kind}"] = f"{decided} of {dataset.types} types have both kinds of pairs"
        values |= {flat_name(setting, metric, kind): value for metric, value in found.items()}
    for setting in SETTING_NAMES.values():
        whole, count = (len(rows[setting, kind].labels) for kind in (PUBLISHED, DEFINED))
        if whole < count:
            notes[f"{setting} items/{PUBLISHED}"] = f"{whole} of {count} are in whole batches of {how.batch}"
    notes |= {name: value for name, value in values.items() if isinstance(value, str)}
    return {name: None if isinstance(value, str) else value for name, value in values.items()}, notes


def accuracy_of_types(
    dataset: DdiDataset, split: PartSplit, predictions: Scores, parameters: Mapping[str, Any]
) -> dict[str, list[float | None]]:
    """For each setting and kind, the accuracy of every type, None for one without an item.

    Where an item has one type, that is the share of a type's items for which it is predicted.
    """
    found = {}
    for (setting, kind), own in rows_of(dataset, split, predictions, evaluation_of(parameters)).items():
        if dataset.multilabel:
            shares = _by_type(own).values["accuracy"]
        else:
            truth = own.labels.astype(np.int64)
            shares = multiclass.recalls(truth, multiclass.predicted_types(own.scores), dataset.types)
        found[flat_name(setting, TYPE_ACCURACY, kind)] = [
            None if np.isnan(one) else one for one in shares.tolist()
        ]
    return found


def _one_type(rows: Rows, *, over_truth: bool) -> dict[str, Value]:
    truth, predicted = rows.labels.astype(np.int64), multiclass.predicted_types(rows.scores)
    return multiclass.metrics(truth, predicted, rows.scores.shape[1], over_truth=over_truth)


def _by_type(rows: Rows) -> multilabel.ByType:
    return multilabel.by_type(rows.labels.astype(np.int8), rows.scores)


class DdiScoring(Scoring[DdiDataset, PartSplit, Scores]):
    """Metrics of both settings and kinds."""

    metrics = METRICS
    predicting = "new_drugs"

    def question(self, dataset: DdiDataset, split: PartSplit, options: Mapping[str, int]) -> PairQuestion:
        """How many pairs a run answers, for how many types, and in what kind of scores."""
        return question_on(dataset, split)

    def score(
        self, dataset: DdiDataset, split: PartSplit, answer: Scores, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, float | None], dict[str, str]]:
        """Every metric of both settings, None where it is undefined, and the reason for each None."""
        return score_predictions(dataset, split, answer, parameters)

    def series(
        self, dataset: DdiDataset, split: PartSplit, answer: Scores, parameters: Mapping[str, Any]
    ) -> dict[str, list[float | None]]:
        """The accuracy of every type, for both settings and kinds of metrics."""
        return accuracy_of_types(dataset, split, answer, parameters)


SCORING = DdiScoring()
