"""Split strategies: one module each, found by being here.

A strategy module has `SUMMARY`, `Parameters` (a Strict model that includes `inner_folds`), `make(dataset, seed,
parameters) -> folds` and `broken_promises(dataset, folds, parameters) -> list[str]`.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import ValidationError

from harness.errors import UsageError
from harness.jobs import SplitSpec
from harness.manifests import Strict
from harness.methods import unknown

if TYPE_CHECKING:
    from harness.data.model import RepurposingDataset
    from harness.splits.folds import Folds


class Strategy(Protocol):
    """What a strategy module offers."""

    SUMMARY: str
    Parameters: type[Strict]

    def make(self, dataset: RepurposingDataset, seed: int, parameters: Any) -> Folds:
        """The fold matrix."""
        ...

    def broken_promises(self, dataset: RepurposingDataset, folds: Folds, parameters: Any) -> list[str]:
        """What the strategy promises beyond what every split does."""
        ...


@cache
def strategy_names() -> tuple[str, ...]:
    """All strategies."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__)))


@cache
def get_strategy(name: str) -> Strategy:
    """One strategy by name."""
    if name not in strategy_names():
        raise unknown("split strategy", name, list(strategy_names()))
    return cast(Strategy, import_module(f"{__name__}.{name}"))


def parameters_of(spec: SplitSpec) -> Strict:
    """A split's parameters, validated, with the strategy's defaults filled in."""
    try:
        return get_strategy(spec.strategy).Parameters.model_validate(spec.parameters)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(str(step) for step in fault["loc"])
        raise UsageError(
            f"a parameter of split strategy '{spec.strategy}' is wrong: {fault['msg']}",
            where=f"parameter {field}",
            todo="`harness split list` shows what a strategy accepts",
        ) from None
