"""What is beyond a tolerance, missing or failed is said, and is never ok."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.methods.card import MethodCard, Tolerance
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing, compare
from tests.parity.conftest import Answers, save

Array = npt.NDArray[Any]


def check(layout: Layout, golden: Path, card: MethodCard, answers: Answers) -> CaseFinding:
    (finding,) = check_cases(layout, find_cases(golden), [card], answers)
    return finding


def test_equal_answers_are_ok(layout: Layout, golden: Path, card: MethodCard, answers: Answers) -> None:
    finding = check(layout, golden, card, answers)
    assert finding.worst is Standing.OK
    assert {array.array: array.error for array in finding.arrays} == {
        "factors": 0.0,
        "iterations": 0.0,
        "pred": 0.0,
    }
    assert finding.seconds == 1.5
    assert finding.as_json()["verdict"] == "ok"


def test_the_run_gets_what_the_card_says(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, arrays: dict[str, Array]
) -> None:
    check(layout, golden, card, answers)
    (trial,) = answers.asked
    np.testing.assert_array_equal(trial.inputs["associations"], arrays["A_train"])
    assert (trial.inputs["folds"] == -1).all()
    np.testing.assert_allclose(trial.inputs["drug_standardised"].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(trial.inputs["drug_standardised"].std(axis=0), 1)
    assert trial.parameters["score"] == 2.0
    assert (trial.options, trial.seed, trial.trace) == ({"inner_folds": 0}, 12, True)


def test_a_golden_of_a_variant_is_held_against_a_run_of_it(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    """With the parameters that the variant has, but for those of the table."""
    usual = card.variants["published"]
    other = usual.model_copy(update={"parameters": {"score": 3.0, "rounds": 7}})
    table = card.parity[0].model_copy(update={"variant": "corrected"})
    both = {"variants": {"published": usual, "corrected": other}, "parity": [table]}
    check(layout, golden, card.model_copy(update=both), answers)
    (trial,) = answers.asked
    assert (trial.variant, trial.parameters) == ("corrected", {"score": 2.0, "rounds": 7})


@pytest.mark.parametrize("fault", ["pred", "factors", "iterations"])
def test_an_error_beyond_its_tolerance_is_found(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, arrays: dict[str, Array], fault: str
) -> None:
    if fault == "pred":
        answers.pred = arrays["pred"] + 1e-3
    elif fault == "factors":
        answers.trace = {"factors": arrays["factors"] + np.eye(5, 2) * 2e-8}
    else:
        answers.iterations = 8
    finding = check(layout, golden, card, answers)
    assert finding.worst is Standing.BEYOND
    assert [array.array for array in finding.arrays if array.standing is Standing.BEYOND] == [fault]


def test_an_error_within_its_tolerance_is_ok_and_told(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, arrays: dict[str, Array]
) -> None:
    answers.trace = {"factors": arrays["factors"] + 5e-9}
    finding = check(layout, golden, card, answers)
    assert finding.worst is Standing.OK
    assert finding.arrays[0].error == pytest.approx(5e-9)


def test_an_array_the_run_did_not_leave_is_found(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers
) -> None:
    answers.trace, answers.iterations = {}, None
    finding = check(layout, golden, card, answers)
    assert finding.worst is Standing.FAILED
    assert {array.array for array in finding.arrays if array.standing is Standing.FAILED} == {
        "factors",
        "iterations",
    }


def test_an_array_the_golden_does_not_have_is_said(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, arrays: dict[str, Array]
) -> None:
    save(golden / "toy_Small_12.npz", {name: arrays[name] for name in ("A_train", "pred")})
    finding = check(layout, golden, card, answers)
    assert finding.worst is Standing.OK
    assert [array.array for array in finding.arrays if array.standing is Standing.ABSENT] == [
        "factors",
        "iterations",
    ]


def test_a_golden_without_anything_to_compare_is_not_ok(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, arrays: dict[str, Array]
) -> None:
    np.savez(golden / "toy_Small_12.npz", A_train=arrays["A_train"])
    assert check(layout, golden, card, answers).worst is Standing.FAILED


def test_a_failed_run_is_not_ok(layout: Layout, golden: Path, card: MethodCard, answers: Answers) -> None:
    answers.verdict = Verdict.ERROR
    finding = check(layout, golden, card, answers)
    assert finding.worst is Standing.FAILED
    assert "made to fail" in finding.note


@pytest.mark.parametrize("lack", ["features file", "array"])
def test_a_case_that_lacks_an_input_is_said(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, lack: str
) -> None:
    features = golden / "_features_Small.npz"
    if lack == "array":
        np.savez(features, S=np.eye(5))
    else:
        features.unlink()
    finding = check(layout, golden, card, answers)
    assert finding.worst is Standing.FAILED
    assert "_features_Small.npz" in finding.note


def test_the_condition_on_labels_chooses_the_table(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, arrays: dict[str, Array]
) -> None:
    table = card.parity[0]
    tables = [
        table.model_copy(update={"when": "no-negatives"}),
        table.model_copy(update={"when": "negatives", "task": "one_step"}),
    ]
    both = card.model_copy(update={"parity": tables})
    check(layout, golden, both, answers)
    arrays["A_train"][0, 0] = -1
    save(golden / "toy_Small_12.npz", arrays)
    check(layout, golden, both, answers)
    assert [trial.task for trial in answers.asked] == ["predict", "one_step"]
    only = card.model_copy(update={"parity": tables[:1]})
    assert check(layout, golden, only, answers).worst is Standing.NOT_IMPLEMENTED


@given(st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(1e-12, 1e-3))
def test_tolerances_mean_what_they_say(value: float, error: float, absolute: float) -> None:
    ours, golden = np.array([value + error, 0.0]), np.array([value, 0.0])
    found = compare("x", ours, golden, Tolerance(absolute=absolute))
    assert found.error == abs(float(ours[0]) - value)
    assert (found.standing is Standing.OK) == (found.error <= absolute)


@pytest.mark.parametrize(
    ("ours", "golden"),
    [
        ([np.nan, 1], [1, 1]),
        ([1, 1], [np.nan, 1]),
        ([np.inf, 1], [-np.inf, 1]),
        ([1, 1, 1], [1, 1]),
        ([[1, 1]], [[1], [1], [1]]),
    ],
)
def test_numbers_that_are_none_never_fit(ours: Any, golden: Any) -> None:
    found = compare("x", np.array(ours, float), np.array(golden, float), Tolerance(absolute=1e9))
    assert found.standing is Standing.BEYOND


def test_what_is_not_finite_on_both_sides_is_equal() -> None:
    both = np.array([np.nan, np.inf, 2.0])
    assert compare("x", both, both, Tolerance()).standing is Standing.OK


def test_a_relative_tolerance_is_of_the_largest_golden() -> None:
    golden = np.array([1000.0, 0.0])
    assert compare("x", golden + 0.9e-3, golden, Tolerance(relative=1e-6)).standing is Standing.OK
    assert compare("x", golden + 1.1e-3, golden, Tolerance(relative=1e-6)).standing is Standing.BEYOND


def test_a_small_golden_allows_little_and_none_nothing() -> None:
    golden = np.array([0.5, -0.25])
    found = compare("x", golden + 0.3, golden, Tolerance(relative=0.5))
    assert (found.standing, found.allowed) == (Standing.BEYOND, 0.25)
    nothing = np.array([np.nan])
    assert compare("x", nothing, nothing, Tolerance(relative=0.5)).allowed == 0.0


def test_a_correlation_is_asked_for_in_place_of_a_difference() -> None:
    golden = np.array([1.0, 2.0, 3.0, 5.0])
    tolerance = Tolerance(correlation=0.99)
    assert compare("x", 10 * golden, golden, tolerance).standing is Standing.OK
    for other in (golden[::-1], golden * [1, -1, 1, 1], np.ones(4)):
        assert compare("x", other, golden, tolerance).standing is Standing.BEYOND


def test_a_column_may_have_the_other_sign_but_a_row_may_not() -> None:
    golden = np.arange(1.0, 7.0).reshape(3, 2)
    tolerance = Tolerance(absolute=1e-9, either_sign=True)
    assert compare("x", golden * [1, -1], golden, tolerance).standing is Standing.OK
    assert compare("x", golden * [[1], [-1], [1]], golden, tolerance).standing is Standing.BEYOND
    assert compare("x", golden * [1, -1], golden, Tolerance(absolute=1e-9)).standing is Standing.BEYOND
    # an array of one axis is one column
    assert compare("x", -golden[0], golden[0], tolerance).standing is Standing.OK


def test_a_small_element_is_not_measured_by_a_large_one() -> None:
    golden, ours = np.array([1e6, 1.0, 0.0]), np.array([1e6 + 50, 1.00005, 1e-9])
    tolerance = Tolerance(relative=1e-4, absolute=1e-8, each=True)
    assert compare("x", ours, golden, tolerance).standing is Standing.OK
    for other in ([0, 1e-3, 0], [200, 0, 0], [0, 0, 1e-6]):
        assert compare("x", ours + other, golden, tolerance).standing is Standing.BEYOND
    assert compare("x", ours + np.array([0, 1e-3, 0]), golden, Tolerance(relative=1e-4)).standing is Standing.OK
