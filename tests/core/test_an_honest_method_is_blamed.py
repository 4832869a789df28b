"""A method that scores alike in every order learns; the words, the bounds and what is undecided, case by case."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import benchmarks
from harness.results.learning import Likeness, compare_orders, order_free

NEAR = [0.455, 0.455, 0.5, 0.545, 0.545]
SHARES = st.floats(0, 1).map(lambda value: round(value, 2))


def plainly(value: float, others: list[float], close: float) -> bool | str | None:
    """What one metric says, from its definition."""
    mean = sum(others) / len(others)
    if abs(value - mean) <= close:
        return True
    if len(others) < 5:
        return "more runs"
    spread = 4 * math.sqrt(sum((one - mean) ** 2 for one in others) / (len(others) - 1))
    if value - mean > 0.1 + spread and value - max(others) > 0.1:
        return False
    return True if spread <= 0.2 and abs(value - mean) <= close + spread else None


@given(SHARES, st.lists(SHARES, min_size=1, max_size=7), st.sampled_from([0.0, 0.02, 0.3]))
def test_one_metric_is_judged_by_its_definition(value: float, others: list[float], close: float) -> None:
    close += 0.0012345  # no sum of hundredths lies on the bound
    found = compare_orders({"AUC": value}, [{"AUC": one} for one in others], close=close)
    expected = plainly(value, others, close)
    assert (found.alike if found else "more runs") == expected


def test_close_scores_need_no_more_runs() -> None:
    assert compare_orders({"AUC": 0.75}, [{"AUC": 0.75}]) == Likeness(
        alike=True, what="in a secret order it scores as in the published one", found="AUC 0.7500"
    )
    assert compare_orders({"F1": 0.0}, [{"F1": 0.0}]) == Likeness(
        alike=True, what="in a secret order it scores as in the published one", found="F1 0.0000"
    )
    assert compare_orders({"AUC": 0.519}, [{"AUC": 0.5}]) is not None
    assert compare_orders({"AUC": 0.481}, [{"AUC": 0.5}]) is not None
    assert compare_orders({"AUC": 0.521}, [{"AUC": 0.5}]) is None
    assert compare_orders({"AUC": 0.479}, [{"AUC": 0.5}]) is None
    assert compare_orders({"AUC": 0.5625}, [{"AUC": 0.5}], close=0.0625) is not None


def test_five_runs_decide() -> None:
    far = {"AUC": 0.9}
    assert compare_orders(far, [{"AUC": 0.5}] * 4) is None
    assert compare_orders(far, [{"AUC": 0.5}] * 5) == Likeness(
        alike=False,
        what="AUC depends on the order of items: labels are read from it",
        expected="0.5000 ± 0.0000, as in 5 secret orders",
        found="0.9000 in the published order",
    )
    spread = [{"AUC": value} for value in (0.5, 0.52, 0.54, 0.56, 0.58, 0.54)]
    found = compare_orders(far, spread)
    # a deviation of 0.0283, four of which are 0.1131
    assert found is not None and found.expected == "0.5400 ± 0.1131, as in 6 secret orders"


@pytest.mark.parametrize(
    ("value", "others", "alike"),
    [
        (0.625, [0.5] * 5, False),
        (0.59, [0.5] * 5, None),
        (0.41, [0.5] * 5, None),
        (0.1, [0.5] * 5, None),
        (0.515, [0.5] * 5, True),
        # four deviations are 0.18: far by more than a tenth above that, or not
        (0.79, NEAR, False),
        (0.77, NEAR, None),
        (0.69, NEAR, True),
        (0.71, NEAR, None),
        (0.31, NEAR, True),
        (0.29, NEAR, None),
        # one order of the others scores nearly as well
        (0.91, [0.7] * 30 + [0.82], None),
        (0.93, [0.7] * 30 + [0.82], False),
        # four deviations are 0.2236: anything could hide in them
        (0.55, [0.4375, 0.4375, 0.5, 0.5625, 0.5625], None),
    ],
)
def test_what_is_far_above_all_other_orders_is_read(value: float, others: list[float], alike: bool | None) -> None:
    found = compare_orders({"AUC": value}, [{"AUC": one} for one in others])
    assert found is not None and found.alike is alike


def test_what_is_undecided_is_told_with_its_numbers() -> None:
    found = compare_orders({"AUC": 0.25, "F1": 0.5}, [{"AUC": 0.5, "F1": 0.5}] * 5)
    assert found == Likeness(
        alike=None,
        what="AUC is 0.2500 in the published order and 0.5000 ± 0.0000 in others: that tells neither reading nor "
        "learning",
    )


def test_every_metric_counts() -> None:
    """What is read by one is read, and a metric that is missing in another order is no equal one."""
    others = [{"AUC": 0.5, "F1": 0.25}] * 5
    found = compare_orders({"AUC": 0.25, "F1": 0.9}, others)
    assert found is not None and found.alike is False and found.what.startswith("F1 depends")
    found = compare_orders({"AUC": 0.5, "F1": 0.25}, others)
    assert found == Likeness(
        alike=True,
        what="in a secret order it scores as in the published one",
        found="AUC 0.5000, F1 0.2500",
    )
    for gap in ({"AUC": 0.5}, {"AUC": 0.5, "F1": None}):
        found = compare_orders({"AUC": 0.5, "F1": 0.25}, [others[0], gap])
        assert found == Likeness(
            alike=False, what="F1 is 0.2500 in the published order and undefined in another one"
        )


@pytest.mark.parametrize("name", benchmarks.names())
def test_metrics_that_may_not_depend_on_the_order_are_those_of_the_benchmark(name: str) -> None:
    names = benchmarks.get(name).order_free_metrics
    assert names
    metrics: dict[str, float | None] = dict.fromkeys(names, 0.5)
    assert order_free(name, {**metrics, "another": 0.1}) == metrics
    assert order_free(name, {**metrics, names[0]: None}) == dict.fromkeys(names[1:], 0.5)
    assert order_free(name, {names[-1]: 0.0}) == {names[-1]: 0.0}
