"""What a person asks for: methods, a dataset, items of their own, and the names of what is in the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.benchmarks.new_item import NewItem

# in place of a method: all that can answer
EVERY = "all"


@dataclass(frozen=True, kw_only=True)
class PredictionRequest:
    """Methods as `NAME` or `NAME/VARIANT`; `only` are a kind and a name each, `pairs` two names each."""

    methods: tuple[str, ...]
    dataset: str
    # of methods that are named without one; None for the recommended one of each
    variant: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    new: tuple[NewItem, ...] = ()
    only: tuple[tuple[str, str], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    # whether rows that differ only in the order of an exchangeable pair are both listed
    both_orders: bool = False
    top: int | None = None
