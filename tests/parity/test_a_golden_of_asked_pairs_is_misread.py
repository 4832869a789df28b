"""Goldens of only the pairs that were asked for, under a name of their own, several runs in one array, are met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.methods.card import MethodCard, Tolerance
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing
from tests.parity.conftest import Answers, save

MASK = np.zeros((5, 4), dtype=np.int8)
MASK[[0, 2, 4], [1, 3, 0]] = 1
OURS = np.array([0.5, 0.25, 0.75])


@pytest.fixture
def asking(card: MethodCard) -> MethodCard:
    """A card that asks for the pairs of a mask and compares repeated runs."""
    table = card.parity[0].model_copy(
        update={
            "inputs": {**card.parity[0].inputs, "folds": "golden:val_mask"},
            "compare": {"pred_val": Tolerance(of="pred", repeated=True)},
        }
    )
    return card.model_copy(update={"parity": [table]})


def check(layout: Layout, golden: Path, card: MethodCard, tmp_path: Path, held: npt.NDArray[Any]) -> CaseFinding:
    labels = np.zeros((5, 4), dtype=np.int8)
    save(golden / "toy_Small_12.npz", {"A_train": labels, "val_mask": MASK, "pred_val": held})
    answers = Answers(tmp_path, OURS, {})
    (finding,) = check_cases(layout, find_cases(golden), [card], answers)
    (trial,) = answers.asked
    np.testing.assert_array_equal(trial.inputs["folds"] == TEST, MASK == 1)
    # all other pairs are training
    assert (trial.inputs["folds"][MASK == 0] == 0).all()
    return finding


@pytest.mark.parametrize("runs", [1, 3])
def test_every_run_of_the_golden_is_met(
    layout: Layout, golden: Path, asking: MethodCard, tmp_path: Path, runs: int
) -> None:
    assert check(layout, golden, asking, tmp_path, np.tile(OURS, (runs, 1))).worst is Standing.OK


def test_one_run_that_differs_is_found(layout: Layout, golden: Path, asking: MethodCard, tmp_path: Path) -> None:
    held = np.tile(OURS, (3, 1))
    held[1, 2] += 1e-9
    assert check(layout, golden, asking, tmp_path, held).worst is Standing.BEYOND


@pytest.mark.parametrize("shape", [(2,), (3, 2), (4,), (6,)])
def test_runs_over_other_pairs_are_found(
    layout: Layout, golden: Path, asking: MethodCard, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    assert check(layout, golden, asking, tmp_path, np.full(shape, 0.5)).worst is Standing.BEYOND


def test_runs_must_not_be_repeated_unless_the_card_says_so(
    layout: Layout, golden: Path, asking: MethodCard, tmp_path: Path
) -> None:
    table = asking.parity[0].model_copy(update={"compare": {"pred_val": Tolerance(of="pred")}})
    once = asking.model_copy(update={"parity": [table]})
    assert check(layout, golden, once, tmp_path, np.tile(OURS, (3, 1))).worst is Standing.BEYOND


def test_a_golden_of_all_pairs_is_met_where_it_was_asked(
    layout: Layout, golden: Path, asking: MethodCard, tmp_path: Path
) -> None:
    """Also of a table whose sides are longer than the answer; an array of another size is told as it is."""
    whole = np.zeros((5, 4))
    whole[MASK == 1] = OURS
    compare = {"pred": Tolerance(), "weights": Tolerance()}
    table = asking.parity[0].model_copy(update={"compare": compare})
    labels = np.zeros((5, 4), dtype=np.int8)
    arrays = {"A_train": labels, "val_mask": MASK, "pred": whole, "weights": whole}
    save(golden / "toy_Small_12.npz", arrays)
    answers = Answers(tmp_path, OURS, {"weights": np.zeros(4)})
    card = asking.model_copy(update={"parity": [table]})
    (finding,) = check_cases(layout, find_cases(golden), [card], answers)
    assert [(one.array, one.standing, one.note) for one in finding.arrays] == [
        ("pred", Standing.OK, ""),
        ("weights", Standing.BEYOND, "shape (4,) instead of (5, 4)"),
    ]


def test_where_nothing_was_asked_nothing_is_answered(
    layout: Layout, golden: Path, asking: MethodCard, tmp_path: Path
) -> None:
    arrays = {"A_train": np.zeros((5, 4), np.int8), "val_mask": np.zeros((5, 4), np.int8), "pred_val": OURS[:0]}
    save(golden / "toy_Small_12.npz", arrays)
    (finding,) = check_cases(layout, find_cases(golden), [asking], Answers(tmp_path, OURS[:0], {}))
    assert finding.worst is Standing.OK
