"""Each check fails the method that breaks just its rule, so that passing means something."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.errors import UsageError
from harness.base.input_files import Given
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks import AnswerFile
from harness.benchmarks.repurposing import BENCHMARK
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.conformance.problems import Problem
from harness.conformance import checks_of
from harness.conformance.checks import Bench, apply
from harness.execution.trials import Result, Trial
from harness.methods.card import MethodCard, load_method
from harness.results.learning import Likeness
from tests.methods.in_process import InProcess, failed

Scores = npt.NDArray[np.float64]
Method = Callable[[Trial, npt.NDArray[np.int8]], Scores]


def honest(trial: Trial, labels: npt.NDArray[np.int8]) -> Scores:
    """Different for every pair, so that order shows."""
    return np.asarray(np.arange(labels.size, dtype=float).reshape(labels.shape) + labels.sum())


def running(folder: Path, method: Method, extra: str = "", lowest_is_off_by: float = 0.0) -> InProcess:
    def answer(trial: Trial) -> dict[str, bytes]:
        folds, labels = trial.inputs["folds"], trial.inputs["associations"]
        scores = [
            method(trial, np.where(folds == model, 0, labels).astype(np.int8))
            for model in range(max(trial.options["inner_folds"], 1))
        ]
        lowest = np.array([one[one != 0].min() if one.any() else 0.0 for one in scores])
        files = {"predictions.npy": np.array([one[folds == -1] for one in scores])}
        if trial.options["inner_folds"]:
            files["validation.npy"] = np.choose(np.maximum(folds, 0), scores)[folds >= 0]
        files["lowest.npy"] = lowest + lowest_is_off_by
        return {name: npy_bytes(array) for name, array in files.items()}

    return InProcess(folder, answer, extra)


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    return load_method(layout, "constant")


def test_an_honest_method_passes(card: MethodCard, tmp_path: Path) -> None:
    assert failed(card, running(tmp_path, honest)) == set()


def test_unseeded_randomness_is_found(card: MethodCard, tmp_path: Path) -> None:
    generator = np.random.default_rng()
    noisy = running(tmp_path, lambda trial, labels: generator.random(labels.shape))
    assert {"repeats", "seed", "order"} <= failed(card, noisy)


def test_a_seed_that_counts_must_be_declared(card: MethodCard, tmp_path: Path) -> None:
    def seeded(trial: Trial, labels: npt.NDArray[np.int8]) -> Scores:
        return np.random.default_rng(trial.seed).random(labels.shape)

    runner = running(tmp_path, seeded)
    assert failed(card, runner) == {"seed"}
    assert failed(card.model_copy(update={"deterministic": False}), runner) == set()


def test_a_declared_seed_must_count(card: MethodCard, tmp_path: Path) -> None:
    assert failed(card.model_copy(update={"deterministic": False}), running(tmp_path, honest)) == {"seed"}


def test_scores_in_another_order_are_found(card: MethodCard, tmp_path: Path) -> None:
    def by_columns(trial: Trial, labels: npt.NDArray[np.int8]) -> Scores:
        scores, test = honest(trial, labels), trial.inputs["folds"] == -1
        scores[test] = np.sort(scores[test])[::-1]
        return scores

    assert "order" in failed(card, running(tmp_path, by_columns))


def test_the_right_scores_in_another_order_where_fewer_are_asked_are_found(
    card: MethodCard, tmp_path: Path
) -> None:
    def turned(trial: Trial, labels: npt.NDArray[np.int8]) -> Scores:
        scores, folds = honest(trial, labels), trial.inputs["folds"]
        if (folds == -2).any():
            scores[folds == -1] = scores[folds == -1][::-1]
        return scores

    assert "order" in failed(card, running(tmp_path, turned))


def test_scores_that_depend_on_what_is_asked_must_be_declared(card: MethodCard, tmp_path: Path) -> None:
    def by_place(trial: Trial, labels: npt.NDArray[np.int8]) -> Scores:
        asked = trial.inputs["folds"] == -1
        return np.where(asked, np.cumsum(asked).reshape(asked.shape), 1.0)

    runner, declared = running(tmp_path, by_place), card.model_copy(update={"asked_together": "it counts"})
    assert failed(card, runner) == {"order"}
    assert failed(declared, runner) == set()
    assert failed(declared, running(tmp_path / "honest", honest)) == {"order"}


def test_scores_that_depend_on_what_is_asked_in_their_last_digits_do_so(card: MethodCard, tmp_path: Path) -> None:
    """Results of this benchmark are compared bit by bit."""

    def by_number(trial: Trial, labels: npt.NDArray[np.int8]) -> Scores:
        asked = int((trial.inputs["folds"] == -1).sum())
        return np.asarray(honest(trial, labels) * (1 + 1e-15 * asked))

    runner, declared = running(tmp_path, by_number), card.model_copy(update={"asked_together": "it counts"})
    assert failed(card, runner) == {"order"}
    assert failed(declared, runner) == set()


def test_a_lowest_score_that_is_not_the_lowest_is_found(card: MethodCard, tmp_path: Path) -> None:
    assert "lowest" in failed(card, running(tmp_path, honest, lowest_is_off_by=-1.0))


@pytest.mark.parametrize(
    "changed",
    [
        lambda scores: scores - 10_000,
        lambda scores: scores - 200,
        lambda scores: scores + 10_000,
        lambda scores: scores - scores.min(),
        lambda scores: np.maximum(scores - scores.mean(), 0),
        lambda scores: scores * 0,
    ],
)
def test_a_lowest_score_is_the_lowest_but_zero_and_not_the_one_nearest_to_zero(
    card: MethodCard, tmp_path: Path, changed: Callable[[Scores], Scores]
) -> None:
    runner = running(tmp_path, lambda trial, labels: changed(honest(trial, labels)))
    (check,) = [check for check in checks_of(card) if check.name == "lowest"]
    assert apply(check, Bench(card, runner)).passed


def test_for_its_lowest_score_everything_is_asked_and_the_same_is_learned_from(
    card: MethodCard, tmp_path: Path
) -> None:
    asked: list[Trial] = []

    def remember(trial: Trial, labels: npt.NDArray[np.int8]) -> Scores:
        asked.append(trial)
        return honest(trial, labels)

    (check,) = [check for check in checks_of(card) if check.name == "lowest"]
    assert apply(check, Bench(card, running(tmp_path, remember))).passed
    whole = asked[-1].inputs
    assert (whole["folds"] == -1).all()
    known = problems.ordinary().split.folds >= 0
    assert whole["training"].dtype == np.int8 and (whole["training"] == known).all()


def test_scores_that_are_no_numbers_are_found(card: MethodCard, tmp_path: Path) -> None:
    runner = running(tmp_path, lambda trial, labels: honest(trial, labels) / (labels.sum() - labels.sum()))
    with np.errstate(all="ignore"):
        assert "five-models" in failed(card, runner)


def test_more_than_the_answer_is_found(card: MethodCard, tmp_path: Path) -> None:
    assert "one-model" in failed(card, running(tmp_path, honest, extra="notes.txt"))


def test_inputs_that_tell_the_truth_are_found(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Problem.inputs

    def leaking(self: Problem, of: MethodCard, options: Mapping[str, int]) -> dict[str, Given]:
        return {**real(self, of, options), "associations": self.dataset.associations}

    monkeypatch.setattr(Problem, "inputs", leaking)
    check = next(check for check in checks_of(card) if check.name == "truth")
    result = apply(check, Bench(card, running(tmp_path, honest)))
    assert not result.passed
    assert "associations" in result.reason


def with_files(monkeypatch: pytest.MonkeyPatch, *more: AnswerFile, compared: bool = True) -> None:
    """The benchmark with other files of an answer."""
    files = tuple(replace(file, compared=compared) for file in BENCHMARK.answer_files)
    monkeypatch.setattr(BENCHMARK, "answer_files", (*files, *more))


def test_a_check_that_compares_nothing_fails(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_files(monkeypatch, compared=False)
    answered = {"five-models", "one-model", "negatives", "one-positive", "more-diseases", "repeats", "seed"}
    assert failed(card, running(tmp_path, honest)) == answered


def test_no_score_to_compare_is_no_proof_of_learning(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BENCHMARK, "order_free_metrics", ())
    assert failed(card, running(tmp_path, honest)) == {"learns"}


def test_a_difference_between_orders_stays_one_whatever_later_orders_give(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter([None, Likeness(False, "AUC", "0.5", "0.9"), *[Likeness(True, "AUC")] * 99])
    monkeypatch.setattr("harness.conformance.checks.compare_orders", lambda *_, **__: next(told))
    assert failed(card, running(tmp_path, honest)) == {"learns"}


def test_no_input_to_compare_is_no_proof_of_silence(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Problem, "inputs", lambda *_: {})
    check = next(check for check in checks_of(card) if check.name == "truth")
    assert not apply(check, Bench(card, running(tmp_path, honest))).passed


def test_a_self_test_without_a_check_is_none(card: MethodCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.benchmarks.repurposing.conformance.checks.CHECKS", ())
    with pytest.raises(UsageError, match="no self-test yet for repurposing"):
        checks_of(card)


@pytest.mark.parametrize("compared", [True, False])
def test_a_file_that_comes_now_and_then_is_found_where_it_counts(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compared: bool
) -> None:
    with_files(monkeypatch, AnswerFile("odd.txt", required=False, scored=False, compared=compared))
    runner = running(tmp_path, honest)

    @contextmanager
    def now_and_then(trial: Trial) -> Iterator[Result]:
        with runner(trial) as result:
            if runner.runs == 2:
                (result.out / "odd.txt").touch()
            yield result

    check = next(check for check in checks_of(card) if check.name == "repeats")
    result = apply(check, Bench(card, now_and_then))
    assert result.passed is not compared and ("odd.txt" in result.reason) is compared


def test_the_made_up_problems_are_what_they_say() -> None:
    ordinary, negatives = problems.ordinary().dataset, problems.with_negatives().dataset
    assert np.isnan(ordinary.drug_features).any()
    assert (ordinary.associations.sum(axis=1) == 0).any()
    assert ordinary.associations.shape[0] != ordinary.associations.shape[1]
    assert (negatives.associations == -1).any()
    one = problems.with_one_positive()
    assert one.dataset.associations.sum() == 1
    assert one.split.folds[one.dataset.associations == 1] == 0
    more = problems.with_more_diseases().dataset.associations
    assert more.shape[0] < more.shape[1]
