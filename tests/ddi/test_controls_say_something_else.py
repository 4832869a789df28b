"""A control must say what its card says, counted item by item: methods are held against it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.conformance import problems
from harness.benchmarks.ddi.conformance.problems import Problem
from harness.benchmarks.ddi.splits.parts import TRAIN
from harness.conformance import self_test
from harness.execution.trials import Trial
from harness.methods.card import load_method
from tests.methods.host import OnThisMachine

CONTROLS = ("majority_type", "drug_frequency")
PROBLEMS = [problems.one_type(), problems.several_types()]
Scores = np.typing.NDArray[np.float32]


def _answer(layout: Layout, folder: Path, name: str, problem: Problem) -> tuple[Scores, list[tuple[int, int]]]:
    card = load_method(layout, name)
    trial = Trial(card=card, benchmark="ddi", inputs=problem.inputs(card, {}), parameters={}, seed=1)
    with OnThisMachine(layout, folder)(trial) as result:
        assert not result.reason
        scores: Scores = np.load(result.out / "predictions.npy")
    return scores, [(int(head), int(tail)) for head, tail in np.asarray(trial.inputs["test_pairs"])]


def _share(problem: Problem, kind: int, drugs: set[int] | None) -> float | None:
    """Share of a type among training items, each counted once per drug it shares with the pair."""
    dataset, right, told = problem.dataset, 0, 0
    for item in np.flatnonzero(problem.split.items == TRAIN):
        ends = dataset.pairs[item].tolist()
        weight = 1 if drugs is None else sum(end in drugs for end in ends)
        sign = int(dataset.labels[item, kind]) if dataset.multilabel else 1
        has = sign > 0 if dataset.multilabel else int(dataset.labels[item]) == kind
        told += weight * (sign != 0)
        right += weight * has
    return right / told if told else None


@pytest.mark.parametrize("problem", PROBLEMS, ids=["one type", "several types"])
def test_majority_type(layout: Layout, tmp_path: Path, problem: Problem) -> None:
    scores, _ = _answer(layout, tmp_path, "majority_type", problem)
    expected = [_share(problem, kind, None) or 0.0 for kind in range(problems.TYPES)]
    np.testing.assert_allclose(scores, np.tile(expected, (len(scores), 1)), rtol=1e-6)
    assert expected[problems.UNSEEN] == 0


@pytest.mark.parametrize("problem", PROBLEMS, ids=["one type", "several types"])
def test_drug_frequency(layout: Layout, tmp_path: Path, problem: Problem) -> None:
    scores, pairs = _answer(layout, tmp_path, "drug_frequency", problem)
    overall = [_share(problem, kind, None) or 0.0 for kind in range(problems.TYPES)]
    for row in range(0, len(pairs), 7):
        own = [_share(problem, kind, set(pairs[row])) for kind in range(problems.TYPES)]
        expected = [all_ if value is None else value for value, all_ in zip(own, overall, strict=True)]
        np.testing.assert_allclose(scores[row], expected, rtol=1e-6)
    new = [row for row, pair in enumerate(pairs) if min(pair) >= 20]
    assert new
    np.testing.assert_allclose(scores[new], np.tile(overall, (len(new), 1)), rtol=1e-6)


@pytest.mark.parametrize("name", CONTROLS)
def test_controls_pass_the_self_test_on_this_machine(layout: Layout, tmp_path: Path, name: str) -> None:
    results = list(self_test(load_method(layout, name), OnThisMachine(layout, tmp_path)))
    assert not [result for result in results if not result.passed]
