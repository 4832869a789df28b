"""A method that learns passes in every order of items; which promise is examined first, and on which problems."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import benchmarks
from harness.base.input_files import Given
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.repurposing.conformance import problems
from harness.conformance import checks_of, self_test
from harness.conformance.checks import SEED, Bench, Check, apply, is_not_told_the_truth, learns
from harness.execution.trials import Trial
from harness.methods.card import MethodCard, load_method
from tests.methods.in_process import InProcess
from tests.methods.test_a_fault_of_a_method_is_told_otherwise import Made, Method, predictions, reason_of

LEARNS = {"inner_folds": 0}


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    return load_method(layout, "constant")


def scored_by_features(trial: Trial) -> dict[str, bytes]:
    """What groups of drugs and diseases have in common, which no order changes."""
    scores = trial.inputs["drug_features"] @ trial.inputs["disease_features"].T
    asked = scores[trial.inputs["folds"] == -1]
    return {"predictions.npy": npy_bytes(asked[None]), "lowest.npy": npy_bytes(np.array([scores.min()]))}


def scored_by_place(trial: Trial) -> dict[str, bytes]:
    """By heart: where labels lie in the published order, whatever drugs and diseases stand there."""
    labels = problems.as_published().dataset.associations + 0.5
    asked = labels[trial.inputs["folds"] == -1]
    return {"predictions.npy": npy_bytes(asked[None]), "lowest.npy": npy_bytes(np.array([0.5]))}


def test_scores_of_another_order_are_put_back_before_they_are_judged(card: MethodCard, tmp_path: Path) -> None:
    look = learns("repurposing", problems.as_published, LEARNS)
    inputs = ["associations", "folds", "drug_features", "disease_features"]
    learner = card.model_copy(update={"inputs": inputs})
    runner = InProcess(tmp_path / "learner", scored_by_features)
    assert apply(Check("learns", "it learns", look), Bench(learner, runner)).passed
    assert runner.runs == 2, "one other order is enough, where the scores are the same"
    by_heart = apply(
        Check("learns", "it learns", look), Bench(learner, InProcess(tmp_path / "p", scored_by_place))
    )
    assert not by_heart.passed and "labels are read from it" in by_heart.reason


def scored_by_number(scores: tuple[float, float], trial: Trial, number: int) -> dict[str, bytes]:
    """One score in the published order, and another in all others."""
    return predictions(scores[min(number, 1)])


def test_scores_that_are_not_near_are_looked_at_longer(card: MethodCard, tmp_path: Path) -> None:
    """A tenth is near; what differs by more is run in as many orders as tell chance from reading."""
    for name, scores, runs in (("near", (0.7, 0.65), 2), ("far", (0.7, 0.55), 6)):
        method = Method(tmp_path / name, partial(scored_by_number, scores))
        method.folder.mkdir()
        reason_of(learns("repurposing", Made), card, method)
        assert len(method.asked) == runs


def test_a_score_that_is_lost_in_another_order_is_a_fault(card: MethodCard, tmp_path: Path) -> None:
    class Undefined(Made):
        def metrics(self, answer: Mapping[str, Any]) -> Mapping[str, float | None]:
            found = super().metrics(answer)
            return {name: value if value == 1 else None for name, value in found.items()}

    method = Method(tmp_path, lambda trial, number: predictions(2 if number else 1))
    metric = benchmarks.get("repurposing").order_free_metrics[0]
    reason = reason_of(learns("repurposing", Undefined), card, method)
    assert reason.startswith(f"{metric} is 1.0000 in the published order and undefined in another one")


def test_the_options_of_a_check_reach_the_problem_and_the_run(card: MethodCard, tmp_path: Path) -> None:
    seen: list[Mapping[str, int]] = []

    class Asked(Made):
        def inputs(self, card: MethodCard, options: Mapping[str, int]) -> Mapping[str, Given]:
            seen.append(options)
            return super().inputs(card, options)

        def with_other_test_labels(self) -> Made:
            return Asked(self.told, self.truth + 1, self.leaks)

    method = Method(tmp_path, lambda trial, number: predictions(1))
    assert reason_of(learns("repurposing", Asked, LEARNS), card, method) == ""
    assert seen == [LEARNS] and [trial.options for trial in method.asked] == [LEARNS, LEARNS]
    seen.clear()
    assert reason_of(is_not_told_the_truth(Asked, options={"inner_folds": 5}), card, method) == ""
    assert seen == [{"inner_folds": 5}] * 2


def test_a_problem_that_hands_over_nothing_proves_nothing(card: MethodCard, tmp_path: Path) -> None:
    class Empty(Made):
        def inputs(self, card: MethodCard, options: Mapping[str, int]) -> Mapping[str, Given]:
            return {}

    method = Method(tmp_path, lambda trial, number: {})
    reason = "it is handed no input: nothing can be compared"
    assert reason_of(is_not_told_the_truth(Made, Empty), card, method) == reason


@pytest.mark.parametrize("name", benchmarks.names())
def test_every_promise_is_examined_once_in_its_order(layout: Layout, tmp_path: Path, name: str) -> None:
    """What fails is told beside what passes; a run that gives nothing fails whatever needs one."""
    card = load_method(layout, "constant").model_copy(update={"benchmarks": [name]})
    checks = checks_of(card)
    assert len({check.name for check in checks}) == len(checks) and all(check.promise for check in checks)
    if name == "repurposing":
        results = list(self_test(card, InProcess(tmp_path, lambda trial: {})))
        assert [result.check for result in results] == [check.name for check in checks]
        assert [result.check for result in results if result.passed] == ["truth"]


def test_the_seed_of_made_up_problems_stays() -> None:
    """With another one every self-test would be of other problems."""
    assert SEED == 17263407
