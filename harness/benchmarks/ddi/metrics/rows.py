"""The rows that metrics are computed from: test items with the scores of their pairs, for either kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.ddi.answer import Scores
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.metrics.evaluation import Evaluation
from harness.benchmarks.ddi.metrics.multiclass import Types, lowest_types
from harness.benchmarks.ddi.metrics.pairs import AskedPairs, asked_pairs
from harness.benchmarks.ddi.names import DEFINED, PUBLISHED, SETTING_NAMES
from harness.benchmarks.ddi.splits.parts import OUTSIDE, PartSplit


@dataclass(frozen=True, eq=False)
class Rows:
    """Items of one setting in the order of the split: a type each, or a sign for every type."""

    labels: npt.NDArray[Any]
    scores: Scores


def rows_of(
    dataset: DdiDataset, split: PartSplit, predictions: Scores, how: Evaluation
) -> Mapping[tuple[str, str], Rows]:
    """The rows by setting and kind of metrics: all items as defined; as published those in whole batches."""
    asked = asked_pairs(dataset, split)
    lowest = None if dataset.multilabel or not how.lowest_type else _lowest(dataset, split, asked)
    found = {}
    for setting, name in SETTING_NAMES.items():
        items, rows = asked.items[setting], asked.rows[setting]
        labels, scores = dataset.labels[items], predictions[rows]
        published, whole = labels if lowest is None else lowest[rows], how.rows(len(items))
        found[name, PUBLISHED] = Rows(published[:whole], scores[:whole])
        found[name, DEFINED] = Rows(labels, scores)
    return found


def _lowest(dataset: DdiDataset, split: PartSplit, asked: AskedPairs) -> Types:
    """The lowest type of every asked pair in train, valid and test, as the published labels have it."""
    inside = split.items != OUTSIDE
    return lowest_types(dataset.pairs[inside], dataset.labels[inside].astype(np.int64), asked.pairs)
