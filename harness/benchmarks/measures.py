"""What a benchmark must offer for its answers to be scored. Scores depend on the code of this module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from harness.benchmarks.metric import Metric

D = TypeVar("D")
S = TypeVar("S")
A = TypeVar("A")
_Read = TypeVar("_Read", covariant=True)


class Question(Protocol[_Read]):
    """What a run is asked. It says whether an answer is one; the truth is not part of it."""

    def read(self, folder: Path) -> _Read:
        """The answer in a folder, or `InvalidPredictions` with file, place and value."""
        ...


class Scoring(ABC, Generic[D, S, A]):
    """How answers become scores. The module of the subclass, and all it imports, is what scores depend on."""

    # every metric there is
    metrics: tuple[Metric, ...]
    # the split strategy that learns from all that is known and asks for the rest: there is no truth to score by
    predicting: str

    @abstractmethod
    def question(self, dataset: D, split: S, options: Mapping[str, int]) -> Question[A]:
        """What a run on this split is asked."""

    @abstractmethod
    def score(
        self, dataset: D, split: S, answer: A, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, float | None], dict[str, str]]:
        """Every metric by name, None where it is undefined, and the reason for each None.

        `parameters` are the run's: what is scored as published may depend on how the authors evaluated a method.
        """

    def series(
        self, dataset: D, split: S, answer: A, parameters: Mapping[str, Any]
    ) -> dict[str, list[float | None]]:
        """Metrics of many values, such as one per type of interaction: a list each, by name."""
        return {}


class Measurement(NamedTuple):
    """Metrics of an answer, the reason for each that is None, and the metrics of many values."""

    metrics: dict[str, float | None]
    notes: dict[str, str]
    series: dict[str, list[float | None]]


def measured(
    scoring: Scoring[D, S, A], strategy: str, dataset: D, split: S, answer: A, parameters: Mapping[str, Any]
) -> Measurement:
    """The metrics of a valid answer. Where there is no truth, none is defined."""
    if reason := no_truth(scoring, strategy):
        names = [metric.name for metric in scoring.metrics]
        return Measurement(dict.fromkeys(names), dict.fromkeys(names, reason), {})
    metrics, notes = scoring.score(dataset, split, answer, parameters)
    return Measurement(metrics, notes, scoring.series(dataset, split, answer, parameters))


def no_truth(scoring: Scoring[D, S, A], strategy: str) -> str:
    """Why nothing can be scored: `harness predict` asks for what nobody knows. Empty for all other splits."""
    if strategy != scoring.predicting:
        return ""
    return f"split {strategy} asks for what is not known: there is no truth to score by"
