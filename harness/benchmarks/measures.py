"""How predictions become scores, whatever the benchmark: what it must offer for that, and who asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from harness.benchmarks.metric import Metric


class Scorer(Protocol):
    """What a benchmark package offers for scores. These names, and what they use, are what scores depend on."""

    METRICS: tuple[Metric, ...]
    # the split strategy that learns from all that is known and asks for the rest
    PREDICTING: str

    def asked(self, dataset: Any, split: Any) -> Any:
        """What a run on this split is asked for, as `check_predictions` needs it."""
        ...

    def check_predictions(self, folder: Path, asked: Any, inner_folds: int) -> Any:
        """The arrays a run wrote, or `InvalidPredictions` with the reason."""
        ...

    def score(
        self, dataset: Any, split: Any, predictions: Any, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, float | None], dict[str, str]]:
        """Every metric by name, None where it is undefined, and the reason for each None.

        `parameters` are the run's: what is scored as published may depend on how the authors evaluated a method.
        """
        ...

    def series(
        self, dataset: Any, split: Any, predictions: Any, parameters: Mapping[str, Any]
    ) -> dict[str, list[float | None]]:
        """Metrics that have many values, such as one per type of interaction: a list each, by name."""
        ...


SCORING = frozenset(name for name in {*vars(Scorer), *Scorer.__annotations__} if not name.startswith("_"))


class Measured(NamedTuple):
    """What predictions come to: metrics, the reason for each that is None, and the metrics of many values."""

    metrics: dict[str, float | None]
    notes: dict[str, str]
    series: dict[str, list[float | None]]


def measured(
    scorer: Scorer, strategy: str, dataset: Any, split: Any, predictions: Any, parameters: Mapping[str, Any]
) -> Measured:
    """The metrics of checked predictions. Where there is no truth, none is defined."""
    if reason := no_truth(scorer, strategy):
        names = [metric.name for metric in scorer.METRICS]
        return Measured(dict.fromkeys(names), dict.fromkeys(names, reason), {})
    metrics, notes = scorer.score(dataset, split, predictions, parameters)
    return Measured(metrics, notes, scorer.series(dataset, split, predictions, parameters))


def no_truth(scorer: Scorer, strategy: str) -> str:
    """Why nothing can be scored: `harness predict` asks for what nobody knows. Empty for all other splits."""
    if strategy != scorer.PREDICTING:
        return ""
    return f"split {strategy} asks for what is not known: there is no truth to score by"
