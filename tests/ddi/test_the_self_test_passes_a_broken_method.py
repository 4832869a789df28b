"""Each check fails the method that breaks just its rule, so that passing means something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.input_files import Given
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.ddi.conformance.problems import Problem
from harness.benchmarks.ddi.splits.parts import OUTSIDE, TEST_S0, TEST_S1, TEST_S2
from harness.conformance import checks_of, self_test
from harness.execution.trials import Trial
from harness.methods.card import MethodCard, load_method
from tests.methods.in_process import InProcess, failed

Scores = npt.NDArray[np.float64]
Method = Callable[[Trial], Scores]
NAMES = ["one-type", "several-types", "one-setting", "repeats", "seed", "order", "truth"]


def honest(trial: Trial) -> Scores:
    """Another score for every pair and type, between 0 and 1."""
    pairs, sizes = np.asarray(trial.inputs["test_pairs"]), np.asarray(trial.inputs["sizes"])
    drugs, types = sizes[:2]
    numbers = (pairs[:, :1] * drugs + pairs[:, 1:]) * types + np.arange(types)
    return np.asarray(numbers / (drugs**2 * types))


def running(folder: Path, method: Method, extra: str = "") -> InProcess:
    return InProcess(folder, lambda trial: {"predictions.npy": npy_bytes(method(trial).astype(np.float32))}, extra)


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    return load_method(layout, "majority_type")


def test_an_honest_method_passes_in_six_runs(card: MethodCard, tmp_path: Path) -> None:
    """Starting a deep learning library takes seconds, so that runs are counted."""
    runner = running(tmp_path, honest)
    assert failed(card, runner) == set()
    assert runner.runs == 6
    assert [check.name for check in checks_of(card)] == NAMES


def test_unseeded_randomness_is_found(card: MethodCard, tmp_path: Path) -> None:
    generator = np.random.default_rng()
    noisy = running(tmp_path, lambda trial: generator.random(honest(trial).shape))
    assert failed(card, noisy) == {"repeats", "seed", "order"}


def test_a_seed_that_counts_must_be_declared(card: MethodCard, tmp_path: Path) -> None:
    runner = running(tmp_path, lambda trial: (honest(trial) * trial.seed) % 1)
    assert failed(card, runner) == {"seed"}
    assert failed(card.model_copy(update={"deterministic": False}), runner) == set()


def test_a_declared_seed_must_count(card: MethodCard, tmp_path: Path) -> None:
    assert failed(card.model_copy(update={"deterministic": False}), running(tmp_path, honest)) == {"seed"}


@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_scores_in_another_order_are_found(card: MethodCard, tmp_path: Path, scale: float) -> None:
    assert failed(card, running(tmp_path, lambda trial: scale * honest(trial)[::-1])) == {"order"}


def test_rounding_by_the_batch_is_no_other_order(card: MethodCard, tmp_path: Path) -> None:
    def rounded(trial: Trial) -> Scores:
        scores = honest(trial)
        return np.asarray(scores * (1 - 1e-7 * (len(scores) % 5)))

    assert failed(card, running(tmp_path, rounded)) == set()

    def rounded_like_the_largest(trial: Trial) -> Scores:
        scores = honest(trial)
        return np.asarray(scores**3 + 1e-6 * (len(scores) % 5))

    assert failed(card, running(tmp_path / "largest", rounded_like_the_largest)) == set()


def test_the_right_scores_in_another_order_where_fewer_are_asked_are_found(
    card: MethodCard, tmp_path: Path
) -> None:
    def turned(trial: Trial) -> Scores:
        return honest(trial)[:: -1 if (np.asarray(trial.inputs["test_setting"]) == 1).all() else 1]

    assert failed(card, running(tmp_path, turned)) == {"order"}


def test_scores_that_depend_on_what_is_asked_must_be_declared(card: MethodCard, tmp_path: Path) -> None:
    runner = running(tmp_path, lambda trial: honest(trial) / len(trial.inputs["test_pairs"]))
    declared = card.model_copy(update={"asked_together": "it counts"})
    assert failed(card, runner) == {"order"}
    assert failed(declared, runner) == set()
    assert failed(declared, running(tmp_path / "honest", honest)) == {"order"}


def test_logits_where_probabilities_are_asked_are_found(card: MethodCard, tmp_path: Path) -> None:
    assert failed(card, running(tmp_path, lambda trial: honest(trial) * 9)) == {"several-types"}


def test_a_method_that_counts_on_two_settings_is_found(card: MethodCard, tmp_path: Path) -> None:
    def needing(trial: Trial) -> Scores:
        new_pairs = (np.asarray(trial.inputs["valid_setting"]) == 2).sum()
        return np.asarray(honest(trial) / new_pairs)

    with np.errstate(all="ignore"):
        assert failed(card, running(tmp_path, needing)) == {"one-setting"}


def test_more_than_the_answer_is_found(card: MethodCard, tmp_path: Path) -> None:
    assert "one-type" in failed(card, running(tmp_path, honest, extra="notes.txt"))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("part", [TEST_S0, TEST_S1, TEST_S2, OUTSIDE])
def test_inputs_that_tell_the_truth_are_found(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, several: bool, part: int
) -> None:
    real = Problem.inputs

    def leaking(self: Problem, of: MethodCard, options: Mapping[str, int]) -> dict[str, Given]:
        labels = self.dataset.labels[self.split.items == part]
        leak = {"labels": labels} if self.dataset.multilabel is several else {}
        return {**real(self, of, options), **leak}

    monkeypatch.setattr(Problem, "inputs", leaking)
    results = {result.check: result for result in self_test(card, running(tmp_path, honest))}
    assert results["truth"].reason == "labels of test items change labels"


def test_every_benchmark_has_a_self_test(card: MethodCard, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in benchmarks.names():
        assert checks_of(card.model_copy(update={"benchmarks": [name]}))
    real = benchmarks.part
    monkeypatch.setattr(benchmarks, "part", lambda name, below: None if name == "ddi" else real(name, below))
    with pytest.raises(UsageError, match="no self-test yet for ddi"):
        checks_of(card.model_copy(update={"benchmarks": ["repurposing", "ddi"]}))
