"""What a run answered: a score of every type for every test pair, or the reason why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.benchmarks.answers import PREDICTIONS, check_report, read_numbers, refuse_where
from harness.benchmarks.ddi.metrics.pairs import Asked

_AXES = ("pair", "type")

Scores = npt.NDArray[np.float32]


def read_predictions(folder: Path, asked: Asked) -> Scores:
    """Finite scores; of multilabel data probabilities, which are cut at one half."""
    check_report(folder)
    scores: Scores = read_numbers(folder, PREDICTIONS, "<f4", (asked.pairs, asked.types), _AXES)
    if asked.multilabel:
        refuse_where((scores < 0) | (scores > 1), "no probability", PREDICTIONS, scores, _AXES)
    return scores
