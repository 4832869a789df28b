"""The concordance index, by which DeepDTA chooses a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def concordance(values: Array, scores: Array) -> float:
    """Of the pairs of rows with different values, the share whose scores are in the same order.

    Equal scores count half; 0 where all values are equal.
    """
    right, total = 0.0, 0
    for value, score in zip(values, scores, strict=True):
        lower = scores[values < value]
        right += np.count_nonzero(lower < score) + np.count_nonzero(lower == score) / 2
        total += len(lower)
    return right / total if total else 0.0
