"""The choice of an inner model, by its scores of the training pairs that it did not see.

As published: by the AUC of predictions cut to -1 and +1, disease by disease. For a method without negative scores
all inner models have exactly 0.5 there, and the first one is taken. As defined: by the AUC over all such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.benchmarks.repurposing.metrics.as_published import cut_area_of, without_zeros
from harness.benchmarks.repurposing.metrics.pairs import Integers, Labels, Scores, global_area


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The pairs one model did not see: disease, label and score of each."""

    diseases: Integers
    labels: Labels
    scores: Scores


def published_values(models: Sequence[HeldOut], lowest: Sequence[float], diseases: int) -> list[float | None]:
    """The published criterion for each inner model."""
    return [
        cut_area_of(pairs.diseases, pairs.labels, without_zeros(pairs.scores, low) > 0, diseases)
        for pairs, low in zip(models, lowest, strict=True)
    ]


def defined_values(models: Sequence[HeldOut]) -> list[float | None]:
    """The criterion of the paper's text for each inner model."""
    return [global_area(pairs.labels, pairs.scores) for pairs in models]


def first_best(values: Sequence[float | None]) -> int:
    """The first of the best; a model without a value is never chosen while another has one."""
    return int(np.argmax([-np.inf if value is None else value for value in values]))
