"""What several methods say together: mean normalised ranks, and how far apart they are.

The rule: each method ranks all items, the highest score first. Equal scores share the middle of their ranks, and
items that a method does not list share the last ones. A rank is normalised to 0 (first) to 1 (last). The consensus
of an item is the mean over methods, its disagreement the largest less the smallest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item")
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Agreement(Generic[Item]):
    """An item with its rank by each method, the mean of the normalised ranks, and their spread."""

    item: Item
    ranks: tuple[float, ...]
    consensus: float
    disagreement: float


def agreements(answers: Sequence[Mapping[Item, float]]) -> list[Agreement[Item]]:
    """All items that any method lists, by consensus; of equal ones first those that methods agree on.

    What is equal in that too stays in the order in which methods list it.
    """
    items = list(dict.fromkeys(item for answer in answers for item in answer))
    ranks = np.array([mid_ranks([answer.get(item, -np.inf) for item in items]) for answer in answers])
    normalised = (ranks - 1) / max(len(items) - 1, 1)
    # sums of equal numbers in another order may differ in the last bit, and would then not be equal
    consensus = np.round(normalised.mean(axis=0), 12)
    disagreement = np.round(normalised.max(axis=0) - normalised.min(axis=0), 12)
    return [
        Agreement(items[one], tuple(ranks[:, one].tolist()), float(consensus[one]), float(disagreement[one]))
        for one in np.lexsort((disagreement, consensus))
    ]


def mid_ranks(scores: Sequence[float]) -> Numbers:
    """1 for the highest score; equal ones share the middle of their ranks."""
    _, places, counts = np.unique(-np.array(scores), return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts - 1) / 2
    ranks: Numbers = middles[places]
    return ranks
