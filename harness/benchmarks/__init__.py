"""Benchmarks: one package each, found by being here. What differs between benchmarks sits in these packages only.

A benchmark package offers what `Benchmark` lists; every other part of the harness is shared.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

from harness.base.given import Given
from harness.benchmarks.measures import Scorer
from harness.benchmarks.metric import Metric
from harness.benchmarks.ranking import Ranking
from harness.execution.order import Arrangement
from harness.methods.card import unknown

__all__ = ["Benchmark", "Metric", "Ranking", "get", "names"]


class Benchmark(Scorer, Protocol):
    """What a benchmark package offers."""

    MATERIALISATION_VERSION: int
    KEY_METRICS: tuple[str, ...]
    # what a method has learned: these must not depend on the order of drugs, diseases or items
    ORDER_FREE_METRICS: tuple[str, ...]
    INPUTS: tuple[str, ...]
    INNER_FOLDS: int

    def inputs(self, dataset: Any, split: Any, names: Sequence[str], *, inner_folds: int) -> Mapping[str, Given]:
        """What a method declares and what every method is given, by name; test labels never."""
        ...

    def reorder(self, inputs: Mapping[str, Given], order: str) -> Arrangement:
        """The same problem in the order of a secret, and the way back for its answer."""
        ...

    def asked_in(self, inputs: Mapping[str, Any]) -> Any:
        """What a run is asked for, told from what was handed to a container."""
        ...

    def ranking(self, dataset: Any, split: Any, predictions: Any, top: int | None) -> Ranking:
        """What is predicted to be so, best first."""
        ...


def names() -> list[str]:
    """All benchmarks."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)


@cache
def get(name: str) -> Benchmark:
    """One benchmark by name."""
    if name not in names():
        raise unknown("benchmark", name, names())
    return cast(Benchmark, import_module(f"{__name__}.{name}"))
