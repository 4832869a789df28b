"""The answer of a run: a score for every test pair; an error says why a file is no answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.benchmarks.answers import check_report, read_numbers
from harness.benchmarks.dti.names import SCORES

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ScoreQuestion:
    """How many pairs are scored."""

    pairs: int

    def read(self, folder: Path) -> Scores:
        """Finite scores, one for each pair in the order of the split."""
        check_report(folder)
        scores: Scores = read_numbers(folder, SCORES, "<f8", (self.pairs,), ("pair",))
        return scores
