"""Scores in other orders tell learning from reading; a spread that could hide anything is not called ok."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.audit.replay import _step
from harness.audit.steps import Checked
from harness.results.learning import Metrics, compare_orders, order_free

AUC, NS = "AUC/as-defined", "NS-AUC/as-defined"


def judged(published: float, others: Sequence[float]) -> str | None:
    likeness = compare_orders({AUC: published}, [{AUC: score} for score in others])
    return None if likeness is None else str(_step(likeness).checked)


@pytest.mark.parametrize(
    ("published", "others", "expected"),
    [
        (0.80, [0.80], Checked.OK),
        (0.80, [0.7801], Checked.OK),
        (0.80, [0.8199], Checked.OK),
        (0.80, [0.7799], None),
        (0.80, [0.8201], None),
        (0.95, [0.50, 0.52, 0.48, 0.51], None),
        (0.95, [0.50, 0.52, 0.48, 0.51, 0.49], Checked.FAILED),
        # its own spread: mean 0.70, deviation 0.0158
        (0.76, [0.68, 0.69, 0.70, 0.71, 0.72], Checked.OK),
        # beyond it, but not by what labels are worth
        (0.79, [0.68, 0.69, 0.70, 0.71, 0.72], Checked.NOT_CHECKED),
        (0.863, [0.68, 0.69, 0.70, 0.71, 0.72], Checked.NOT_CHECKED),
        (0.864, [0.68, 0.69, 0.70, 0.71, 0.72], Checked.FAILED),
        # who reads labels is not worse for it
        (0.61, [0.68, 0.69, 0.70, 0.71, 0.72], Checked.NOT_CHECKED),
        (0.53, [0.68, 0.69, 0.70, 0.71, 0.72], Checked.NOT_CHECKED),
        # better than the mean, but not than the best of the others
        (0.99, [0.90, 0.90, 0.89, 0.89, 0.90], Checked.NOT_CHECKED),
        # deviation 0.079: a method that throws dice to widen its spread
        (0.85, [0.60, 0.65, 0.70, 0.75, 0.80], Checked.NOT_CHECKED),
        (0.99, [0.10, 0.90, 0.10, 0.90, 0.50], Checked.NOT_CHECKED),
    ],
)
def test_scores_are_judged_by_their_own_spread(
    published: float, others: list[float], expected: Checked | None
) -> None:
    assert judged(published, others) == (None if expected is None else str(expected))


def test_one_metric_that_gives_it_away_is_enough() -> None:
    others: list[Metrics] = [{AUC: 0.80, NS: score} for score in (0.50, 0.51, 0.49, 0.50, 0.52)]
    assert compare_orders({AUC: 0.80, NS: 0.81}, others[:1]) is None
    likeness = compare_orders({AUC: 0.80, NS: 0.81}, others)
    assert likeness is not None
    assert (likeness.alike, likeness.what.startswith(NS)) == (False, True)


def test_a_score_that_other_orders_lack_is_found() -> None:
    likeness = compare_orders({AUC: 0.8}, [{AUC: None}])
    assert likeness is not None and likeness.alike is False


def test_a_small_problem_allows_more() -> None:
    assert compare_orders({AUC: 0.8}, [{AUC: 0.71}]) is None
    likeness = compare_orders({AUC: 0.8}, [{AUC: 0.71}], close=0.1)
    assert likeness is not None and likeness.alike is True


def test_metrics_without_a_value_are_not_compared() -> None:
    assert order_free("repurposing", {AUC: 0.8, NS: None, "NDCG/as-defined": 0.1}) == {AUC: 0.8}
    assert order_free("ddi", {"S1 accuracy/as-defined": 0.3}) == {"S1 accuracy/as-defined": 0.3}
    assert order_free("repurposing", {}) == {}
