"""Metrics of every type by itself, over the pairs that say something of it: positives and drawn negatives.

All follow from one walk down the scores of a type; a type whose pairs do not define a metric has NaN there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.benchmarks.ddi.names import MULTILABEL

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Signs = npt.NDArray[np.int8]
Probabilities = npt.NDArray[np.float32]
Value = float | str

_CUT = 0.5

NO_PAIR = "no pair that says anything of a type is scored in this setting"
NO_TYPE = "no type has both positive and negative pairs in this setting"


@dataclass(frozen=True, eq=False)
class ByType:
    """For each type: how many pairs are positive or negative for it, and each metric."""

    positives: Integers
    negatives: Integers
    values: Mapping[str, Floats]

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """The types with a pair."""
        return self.positives + self.negatives > 0

    @property
    def decided(self) -> npt.NDArray[np.bool_]:
        """The types with both kinds of pairs."""
        return (self.positives > 0) & (self.negatives > 0)


def by_type(signs: Signs, scores: Probabilities) -> ByType:
    """Every metric of every type; signs are +1, -1 or 0, where nothing is said."""
    columns = np.ascontiguousarray(signs.T), np.ascontiguousarray(scores.T)
    found = [_of_type(score[sign > 0], score[sign < 0]) for sign, score in zip(*columns, strict=True)]
    table = np.array(found, dtype=np.float64).reshape(-1, len(MULTILABEL))
    return ByType(
        positives=np.asarray((signs > 0).sum(axis=0)),
        negatives=np.asarray((signs < 0).sum(axis=0)),
        values=dict(zip(MULTILABEL, table.T, strict=True)),
    )


def as_published(found: ByType, *, empty_is_zero: bool) -> dict[str, Value]:
    """Means over all types, those without a pair counting 0 or left out.

    The published code stops at a type with pairs of one kind only; the mean is undefined then.
    """
    return {name: _published_mean(found, values, empty_is_zero) for name, values in found.values.items()}


def as_defined(found: ByType) -> dict[str, Value]:
    """Means over the types with both kinds of pairs, for which alone every metric is defined."""
    kept = found.decided
    means = {name: float(values[kept].mean()) if kept.any() else NO_TYPE for name, values in found.values.items()}
    return {name: mean for name, mean in means.items() if name != "precision at half"}


def _published_mean(found: ByType, values: Floats, empty_is_zero: bool) -> Value:
    if not found.present.any():
        return NO_PAIR
    undefined = np.flatnonzero(found.present & np.isnan(values))
    if len(undefined):
        return f"{len(undefined)} types do not define it, the first is type {undefined[0]}"
    return float(values[found.present].sum() / (len(values) if empty_is_zero else found.present.sum()))


def _of_type(ours: Probabilities, others: Probabilities) -> tuple[float, ...]:
    """The metrics in the order of their names, from the scores of positives and of negatives."""
    positives, negatives, count = len(ours), len(others), len(ours) + len(others)
    if not count:
        return (np.nan,) * len(MULTILABEL)
    scores = np.concatenate([ours, others])
    # stable, so that positives come first where scores tie
    order = np.argsort(-scores, kind="stable")
    hits, falling = np.cumsum(order < positives), scores[order]
    # a threshold lies behind each run of equal scores
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    found, taken = hits[ends], ends + 1
    gained, missed = np.diff(found, prepend=0), np.diff(taken - found, prepend=0)
    area = missed @ (2 * found - gained) / (2 * positives * negatives) if positives and negatives else np.nan
    precision = (gained * (found / taken)).sum() / positives if positives else np.nan
    right = (ours > _CUT).sum() + (others <= _CUT).sum()
    half = count // 2
    return float(area), float(precision), float(right / count), float(hits[half - 1] / half) if half else np.nan
