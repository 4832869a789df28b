"""Drug repurposing: rank pairs of drugs and diseases. A method sees training labels and features, no truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.benchmarks.ranking import Ranking
from harness.benchmarks.repurposing.metrics.names import INPUTS, KEY_METRICS, METRICS, ORDER_FREE_METRICS

if TYPE_CHECKING:
    from harness.base.given import Array, Given
    from harness.benchmarks.repurposing.answer import Predictions
    from harness.benchmarks.repurposing.dataset import RepurposingDataset
    from harness.benchmarks.repurposing.splits.folds import Folds, Split
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
INNER_FOLDS = 5
PREDICTING = "unknown_pairs"


def inputs(
    dataset: RepurposingDataset, split: Split, names: Sequence[str], *, inner_folds: int
) -> dict[str, Array]:
    """The arrays a method declares."""
    from harness.benchmarks.repurposing.input_arrays import arrays_of

    return arrays_of(dataset, split.for_inner_folds(inner_folds), names)


def reorder(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """Drugs and diseases in another order."""
    from harness.benchmarks.repurposing.ordering import in_order

    return in_order(inputs, order)


def asked(dataset: RepurposingDataset, split: Split) -> Folds:
    """The matrix of folds: it marks the test pairs, and which inner model does not see a pair."""
    return split.folds


def asked_in(inputs: Mapping[str, Any]) -> Folds:
    """The same, as a container found it."""
    folds: Folds = inputs["folds"]
    return folds


def check_predictions(folder: Path, asked: Folds, inner_folds: int) -> Predictions:
    """The arrays a run wrote, or `InvalidPredictions` with a precise reason."""
    from harness.benchmarks.repurposing.answer import read_predictions

    return read_predictions(folder, asked, inner_folds)


def score(
    dataset: RepurposingDataset, split: Split, predictions: Predictions, parameters: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Every metric, None where it is undefined, and the reason for each None."""
    from harness.benchmarks.repurposing.metrics.scorer import score_predictions

    return score_predictions(dataset.associations, split.folds, predictions)


def series(
    dataset: RepurposingDataset, split: Split, predictions: Predictions, parameters: Mapping[str, Any]
) -> dict[str, list[float | None]]:
    """There are none."""
    return {}


def ranking(dataset: RepurposingDataset, split: Split, predictions: Predictions, top: int | None) -> Ranking:
    """The unknown pairs."""
    from harness.benchmarks.repurposing.ranking import rank_pairs

    return rank_pairs(dataset, split.folds, predictions, top)
