"""Does a method learn, or does it read labels from the order of its items? Its scores in other orders tell.

A method that learns scores in any order as it does in the published one, up to its own spread. One that traces a
stratified draw back to the labels, or keeps labels by the number of a row, scores so in the published order only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import NamedTuple

from harness import benchmarks

Metrics = Mapping[str, float | None]

# Runs in other orders, where the first is not close to the one in the published order.
RUNS = 5
CLOSE = 0.02
# Of so few values even a fair deviation is uncertain: with three, honest methods would be blamed once in twenty.
_DEVIATIONS = 4.0
# Some honest methods gain a little from the order of a dataset (LIBMF on Synthetic 0.07); labels are worth more.
_WORTH = 0.1
# A method whose scores vary by more than this from order to order could hide anything in them.
_LARGEST_SPREAD = 0.2


class Likeness(NamedTuple):
    """Whether scores are alike in all orders (None: they vary too much to tell), and the words for it."""

    alike: bool | None
    what: str
    expected: str = ""
    found: str = ""


def order_free(name: str, metrics: Metrics) -> dict[str, float]:
    """Those metrics of a benchmark's run that must not depend on the order of items."""
    names = benchmarks.get(name).order_free_metrics
    return {metric: value for metric in names if (value := metrics.get(metric)) is not None}


def compare_orders(
    published: Mapping[str, float], others: Sequence[Metrics], *, close: float = CLOSE
) -> Likeness | None:
    """What the scores in other orders come to; None where more of them, up to RUNS, are needed."""
    unclear = ""
    for metric, value in published.items():
        values = [score for one in others if (score := one.get(metric)) is not None]
        if len(values) < len(others):
            return Likeness(
                alike=False, what=f"{metric} is {value:.4f} in the published order and undefined in another one"
            )
        apart = value - mean(values)
        if abs(apart) <= close:
            continue
        if len(values) < RUNS:
            return None
        spread = _DEVIATIONS * stdev(values)
        if apart > _WORTH + spread and value > max(values) + _WORTH:
            return Likeness(
                alike=False,
                what=f"{metric} depends on the order of items: labels are read from it",
                expected=f"{mean(values):.4f} ± {spread:.4f}, as in {len(values)} secret orders",
                found=f"{value:.4f} in the published order",
            )
        if spread > _LARGEST_SPREAD or abs(apart) > close + spread:
            # to be worse is no sign of reading, and no proof of learning
            unclear = (
                f"{metric} is {value:.4f} in the published order and {mean(values):.4f} ± {spread:.4f} in others: "
                "that tells neither reading nor learning"
            )
    if unclear:
        return Likeness(alike=None, what=unclear)
    scores = ", ".join(f"{metric} {mean(one[metric] or 0.0 for one in others):.4f}" for metric in published)
    return Likeness(alike=True, what="in a secret order it scores as in the published one", found=scores)
