"""The answer of a run: a score of every type for every test pair; an error says why a file is no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.input_files import Given
from harness.benchmarks.answers import check_report, read_numbers, refuse_where
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.metrics.pairs import asked_pairs
from harness.benchmarks.ddi.names import PREDICTIONS
from harness.benchmarks.ddi.splits.parts import PartSplit

_AXES = ("pair", "type")

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True)
class PairQuestion:
    """The shape and the kind of an answer: one row per test pair, one column per type."""

    pairs: int
    types: int
    multilabel: bool

    def read(self, folder: Path) -> Scores:
        """Finite scores; of multilabel data probabilities, which are cut at one half."""
        check_report(folder)
        scores: Scores = read_numbers(folder, PREDICTIONS, "<f4", (self.pairs, self.types), _AXES)
        if self.multilabel:
            refuse_where((scores < 0) | (scores > 1), "no probability", PREDICTIONS, scores, _AXES)
        return scores


def question_on(dataset: DdiDataset, split: PartSplit) -> PairQuestion:
    """The question of one split."""
    return PairQuestion(len(asked_pairs(dataset, split).pairs), dataset.types, dataset.multilabel)


def question_in(inputs: Mapping[str, Given]) -> PairQuestion:
    """The same, from mounted inputs: trials have no dataset or split."""
    return PairQuestion(len(inputs["test_pairs"]), int(inputs["sizes"][1]), np.ndim(inputs["train_labels"]) == 2)
