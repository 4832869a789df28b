"""Drug-drug interactions of new drugs: which types a pair has. A method sees labels of other pairs, no truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.benchmarks.ddi.metrics.names import INPUTS, KEY_METRICS, METRICS, ORDER_FREE_METRICS
from harness.benchmarks.ranking import Ranking

if TYPE_CHECKING:
    from harness.base.given import Given
    from harness.benchmarks.ddi.answer import Scores
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.metrics.pairs import Asked
    from harness.benchmarks.ddi.splits.parts import PartSplit
    from harness.execution.order import Arrangement

__all__ = [
    "INNER_FOLDS",
    "INPUTS",
    "KEY_METRICS",
    "MATERIALISATION_VERSION",
    "METRICS",
    "ORDER_FREE_METRICS",
    "PREDICTING",
    "asked",
    "asked_in",
    "check_predictions",
    "inputs",
    "ranking",
    "reorder",
    "score",
    "series",
]

MATERIALISATION_VERSION = 1
# a method chooses its model by the validation items
INNER_FOLDS = 0
PREDICTING = "new_drugs"


def inputs(dataset: DdiDataset, split: PartSplit, names: Sequence[str], *, inner_folds: int) -> dict[str, Given]:
    """What a method declares and what every method is given."""
    from harness.benchmarks.ddi.input_arrays import inputs_of

    return inputs_of(dataset, split, names)


def reorder(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """Drugs, entities and items in another order."""
    from harness.benchmarks.ddi.ordering import in_order

    return in_order(inputs, order)


def asked(dataset: DdiDataset, split: PartSplit) -> Asked:
    """How many pairs a run answers, for how many types, and in what kind of scores."""
    from harness.benchmarks.ddi.metrics.pairs import asked_of

    return asked_of(dataset, split)


def asked_in(inputs: Mapping[str, Given]) -> Asked:
    """The same, as a container found it."""
    from harness.benchmarks.ddi.metrics.pairs import asked_by

    return asked_by(inputs)


def check_predictions(folder: Path, asked: Asked, inner_folds: int) -> Scores:
    """The scores a run wrote, or `InvalidPredictions` with a precise reason."""
    from harness.benchmarks.ddi.answer import read_predictions

    return read_predictions(folder, asked)


def score(
    dataset: DdiDataset, split: PartSplit, predictions: Scores, parameters: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Every metric of both settings, None where it is undefined, and the reason for each None."""
    from harness.benchmarks.ddi.metrics.scorer import score_predictions

    return score_predictions(dataset, split, predictions, parameters)


def series(
    dataset: DdiDataset, split: PartSplit, predictions: Scores, parameters: Mapping[str, Any]
) -> dict[str, list[float | None]]:
    """The accuracy of every type, for both settings and kinds of metrics."""
    from harness.benchmarks.ddi.metrics.scorer import accuracy_of_types

    return accuracy_of_types(dataset, split, predictions, parameters)


def ranking(dataset: DdiDataset, split: PartSplit, predictions: Scores, top: int | None) -> Ranking:
    """Pairs with new drugs, and their types."""
    from harness.benchmarks.ddi.ranking import rank_types

    return rank_types(dataset, split, predictions, top)
