"""The answer of a run: scores by every inner model; an error says why a file is no answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.errors import InvalidPredictions
from harness.benchmarks.answers import check_report, kind_of, read_numbers
from harness.benchmarks.repurposing.names import LOWEST, PREDICTIONS, VALIDATION
from harness.benchmarks.repurposing.splits.folds import TEST, Folds

_TYPE = "<f8"

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores of the test pairs by every model, of the training pairs by the model that did not see them, and each
    model's smallest score other than zero over all pairs (for the published treatment of zeros)."""

    test: Scores
    validation: Scores | None
    lowest: Scores


@dataclass(frozen=True, eq=False)
class FoldQuestion:
    """The pairs that a fold matrix marks as test; with inner models, the training pairs too."""

    folds: Folds
    inner_folds: int

    def read(self, folder: Path) -> Predictions:
        """The answer of a run, in the shapes the job asked for."""
        folds, models, tested = self.folds, max(self.inner_folds, 1), int((self.folds == TEST).sum())
        check_report(folder)
        test = read_numbers(folder, PREDICTIONS, _TYPE, (models, tested), ("model", "item"))
        validation: Scores | None = None
        if self.inner_folds:
            validation = read_numbers(folder, VALIDATION, _TYPE, (int((folds >= 0).sum()),), ("item",))
        elif kind_of(folder, VALIDATION) is not None:
            raise InvalidPredictions(f"{VALIDATION}: was written, though the job has no inner models")
        lowest = read_numbers(folder, LOWEST, _TYPE, (models,), ("item",))
        for model in range(models):
            known = [test[model]] if validation is None else [test[model], validation[folds[folds >= 0] == model]]
            _check_lowest(model, float(lowest[model]), np.concatenate(known))
        return Predictions(test=test, validation=validation, lowest=lowest)


def _check_lowest(model: int, lowest: float, known: Scores) -> None:
    """The smallest score other than 0 over all pairs can't be above one of those that are known here."""
    known = known[known != 0]
    if len(known) and (lowest == 0 or lowest > known.min()):
        raise InvalidPredictions(
            f"{LOWEST}: model {model} tells {lowest:g} as its smallest score but 0, and scored {known.min():g}"
        )
