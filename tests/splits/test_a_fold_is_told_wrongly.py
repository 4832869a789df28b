"""What every matrix of folds promises, at both sides of each bound, word for word."""

from __future__ import annotations

import numpy as np
import pytest

from harness.base.errors import UsageError
from harness.benchmarks.repurposing.splits.folds import (
    OUTSIDE,
    TEST,
    Folds,
    broken_promises,
    inner_folds_of,
    split_of,
)


def matrix(*rows: list[int]) -> Folds:
    return np.array(rows, dtype=np.int8)


LABELS = matrix([1, 0, 1, 0], [1, 0, 1, 0])
# every fold has one pair of either label
SOUND = matrix([TEST, TEST, 0, 0], [1, 1, OUTSIDE, OUTSIDE])


def test_a_sound_matrix_breaks_nothing() -> None:
    assert broken_promises(SOUND, LABELS) == []
    # folds may differ by one pair, and so may the pairs of one label
    assert broken_promises(matrix([TEST, TEST, 0, 0], [1, 1, 1, OUTSIDE]), LABELS) == []
    assert broken_promises(matrix([TEST, 0, 0, 0], [0, 0, 0, 0]), LABELS) == []


@pytest.mark.parametrize(
    ("folds", "broken"),
    [
        (matrix([TEST, 0]), ["the split is (1, 2), the dataset (2, 4)"]),
        (matrix([TEST, TEST, 0, 0], [1, 1, OUTSIDE - 1, OUTSIDE]), [f"code {OUTSIDE - 1} has no meaning"]),
        (matrix([OUTSIDE, OUTSIDE, 0, 0], [1, 1, OUTSIDE, OUTSIDE]), ["there is no test pair"]),
        (matrix([TEST] * 4, [TEST] * 4), ["there is no training pair"]),
        (matrix([OUTSIDE] * 4, [OUTSIDE] * 4), ["there is no test pair", "there is no training pair"]),
        (
            matrix([TEST, TEST, 0, 0], [2, 2, OUTSIDE, OUTSIDE]),
            ["the inner folds are [0, 2], not numbered from 0"],
        ),
        (
            matrix([TEST, TEST, 1, 1], [2, 2, OUTSIDE, OUTSIDE]),
            ["the inner folds are [1, 2], not numbered from 0"],
        ),
        (
            matrix([TEST, TEST, 0, 0], [1, 1, 1, 1]),
            ["the inner folds differ in size by 2 pairs"],
        ),
        (
            matrix([TEST, 0, OUTSIDE, 0], [1, OUTSIDE, 1, OUTSIDE]),
            [
                "inner folds hold between 0 and 2 pairs with label +0",
                "inner folds hold between 0 and 2 pairs with label +1",
            ],
        ),
    ],
)
def test_each_broken_promise_is_told(folds: Folds, broken: list[str]) -> None:
    assert broken_promises(folds, LABELS) == broken


def test_pairs_are_counted_by_what_they_are_for() -> None:
    split = split_of(SOUND.copy())
    assert (split.training, split.test, split.inner_folds) == (4, 2, 2)
    assert not split.folds.flags.writeable


@pytest.mark.parametrize(
    ("codes", "count"), [([TEST, OUTSIDE], 0), ([TEST, 0], 0), ([0, 1], 2), ([TEST, 0, 1, 2], 3)]
)
def test_one_piece_is_no_inner_fold(codes: list[int], count: int) -> None:
    assert split_of(matrix(codes)).inner_folds == count


def test_folds_can_be_put_together_and_not_dealt_anew() -> None:
    split = split_of(SOUND.copy())
    assert split.for_inner_folds(2) is split.folds
    whole = split.for_inner_folds(0)
    assert np.array_equal(whole, np.where(SOUND > 0, 0, SOUND))
    with pytest.raises(UsageError) as refused:
        split.for_inner_folds(3)
    assert refused.value.what == "the split has 2 inner folds, the job wants 3"
    assert refused.value.todo == "ask for 0, for 2, or for a split with parameter inner_folds=3"
    # of one piece there is nothing to put together
    assert split_of(whole.copy()).for_inner_folds(0) is not None


def test_no_inner_folds_are_one_piece_and_nothing_else_is_touched() -> None:
    folds = np.full((2, 4), OUTSIDE, dtype=np.int8)
    inner_folds_of(np.array([1, 6]), LABELS, folds, count=0, seed=1)
    assert folds.tolist() == [[OUTSIDE, 0, OUTSIDE, OUTSIDE], [OUTSIDE, OUTSIDE, 0, OUTSIDE]]
