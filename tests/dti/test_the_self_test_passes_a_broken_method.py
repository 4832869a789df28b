"""Each check fails the method that breaks just its rule, so that passing means something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.input_files import Given, as_file
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.dti import BENCHMARK
from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.conformance.problems import Problem
from harness.benchmarks.dti.names import INPUTS
from harness.conformance import checks_of, self_test
from harness.execution.trials import Trial
from harness.methods.card import MethodCard, load_method
from tests.methods.in_process import InProcess, failed

Scores = npt.NDArray[np.float64]
Method = Callable[[Trial], Scores]
NAMES = ["bindings", "affinities", "repeats", "seed", "order", "learns", "truth"]


def honest(trial: Trial) -> Scores:
    """The product of degrees, with something of each pair's own."""
    drugs, targets = np.asarray(trial.inputs["sizes"])[:2]
    train, values, test = (
        np.asarray(trial.inputs[name]) for name in ("train_pairs", "train_values", "test_pairs")
    )
    of_drug = np.bincount(train[:, 0], values, drugs)[test[:, 0]]
    of_target = np.bincount(train[:, 1], values, targets)[test[:, 1]]
    return np.asarray((of_drug + 1) * (of_target + 1) + test @ [1e-3, 1e-4])


def running(folder: Path, method: Method, extra: str = "") -> InProcess:
    return InProcess(
        folder, lambda trial: {"scores.npy": npy_bytes(np.ascontiguousarray(method(trial), dtype="<f8"))}, extra
    )


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    return load_method(layout, "degree_product")


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
    runner = running(tmp_path, lambda trial: honest(trial) * trial.seed)
    assert failed(card, runner) == {"seed"}
    assert failed(card.model_copy(update={"deterministic": False}), runner) == set()


def test_a_declared_seed_must_count(card: MethodCard, tmp_path: Path) -> None:
    assert failed(card.model_copy(update={"deterministic": False}), running(tmp_path, honest)) == {"seed"}


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-9])
def test_scores_in_another_order_are_found(card: MethodCard, tmp_path: Path, scale: float) -> None:
    assert failed(card, running(tmp_path, lambda trial: scale * honest(trial)[::-1])) == {"order"}


def test_labels_brought_along_are_found(card: MethodCard, tmp_path: Path) -> None:
    """Whoever knows the published pairs by their numbers knows nothing of those of a secret order."""
    problem = problems.bindings()
    known = {tuple(pair) for pair in problem.dataset.pairs.tolist()}

    def reading(trial: Trial) -> Scores:
        return np.array([float(tuple(pair) in known) for pair in np.asarray(trial.inputs["test_pairs"]).tolist()])

    assert failed(card, running(tmp_path, reading)) == {"learns"}


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-9])
def test_rounding_by_the_batch_is_no_other_order(card: MethodCard, tmp_path: Path, scale: float) -> None:
    def rounded(trial: Trial) -> Scores:
        scores = scale * honest(trial)
        return np.asarray(scores * (1 - 1e-7 * (len(scores) % 3)))

    assert failed(card, running(tmp_path, rounded)) == set()

    def rounded_like_the_largest(trial: Trial) -> Scores:
        scores = scale * honest(trial)
        return np.asarray(scores + 1e-6 * scores.max() * (len(scores) % 3))

    assert failed(card, running(tmp_path / "largest", rounded_like_the_largest)) == set()


def test_the_right_scores_in_another_order_where_fewer_are_asked_are_found(
    card: MethodCard, tmp_path: Path
) -> None:
    whole = problems.bindings().split.test

    def turned(trial: Trial) -> Scores:
        return honest(trial)[:: -1 if len(trial.inputs["test_pairs"]) < whole else 1]

    assert failed(card, running(tmp_path, turned)) == {"order"}


def test_scores_that_depend_on_what_is_asked_must_be_declared(card: MethodCard, tmp_path: Path) -> None:
    runner = running(tmp_path, lambda trial: honest(trial) / len(trial.inputs["test_pairs"]))
    declared = card.model_copy(update={"asked_together": "it counts"})
    assert failed(card, runner) == {"order"}
    assert failed(declared, runner) == set()
    assert failed(declared, running(tmp_path / "honest", honest)) == {"order"}


def test_scores_may_be_scaled_by_two_pairs_of_one_half(card: MethodCard, tmp_path: Path) -> None:
    lowest, _, highest = problems.bindings().split.test_pairs[:3].tolist()

    def scaled(trial: Trial) -> Scores:
        pairs = np.asarray(trial.inputs["test_pairs"])
        scores = honest(trial) + 1e6 * (pairs == highest).all(axis=1) - 1e6 * (pairs == lowest).all(axis=1)
        return np.asarray((scores - scores.min()) / (scores.max() - scores.min()))

    declared = card.model_copy(update={"asked_together": "the lowest has 0, the highest 1"})
    assert "order" not in failed(declared, running(tmp_path, scaled))


@pytest.mark.parametrize(("affinity", "check"), [(0, "bindings"), (1, "affinities")])
def test_no_number_is_found(card: MethodCard, tmp_path: Path, affinity: int, check: str) -> None:
    def breaking(trial: Trial) -> Scores:
        return np.where(np.asarray(trial.inputs["sizes"])[3] == affinity, np.nan, honest(trial))

    assert check in failed(card, running(tmp_path, breaking))


def test_a_method_that_counts_on_known_drugs_is_found(card: MethodCard, tmp_path: Path) -> None:
    """What is asked about need not be in training."""

    def needing(trial: Trial) -> Scores:
        train, test = (np.asarray(trial.inputs[name])[:, 0] for name in ("train_pairs", "test_pairs"))
        return np.asarray(honest(trial) / np.bincount(train, minlength=test.max() + 1)[test])

    with np.errstate(all="ignore"):
        assert {"bindings", "affinities"} <= failed(card, running(tmp_path, needing))


def test_more_than_the_answer_is_found(card: MethodCard, tmp_path: Path) -> None:
    assert "bindings" in failed(card, running(tmp_path, honest, extra="notes.txt"))


@pytest.mark.parametrize("affinity", [False, True])
def test_inputs_that_tell_the_truth_are_found(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, affinity: bool
) -> None:
    real = Problem.inputs

    def leaking(self: Problem, of: MethodCard, options: Mapping[str, int]) -> dict[str, Given]:
        dataset = self.dataset
        leak = {"known": np.column_stack([dataset.pairs, dataset.values])} if dataset.affinity is affinity else {}
        return {**real(self, of, options), **leak}

    monkeypatch.setattr(Problem, "inputs", leaking)
    results = {result.check: result for result in self_test(card, running(tmp_path, honest))}
    assert results["truth"].reason == "labels of test items change known"


@pytest.mark.parametrize("make", [problems.bindings, problems.affinities])
def test_problems_are_what_a_run_may_be(make: Callable[[], Problem]) -> None:
    for problem in (make(), make().with_other_test_labels()):
        assert BENCHMARK.form.broken_promises(problem.split, problem.dataset) == []
        BENCHMARK.remarks(problem.dataset)
    table = problem.split
    assert len(np.setdiff1d(table.test_pairs[:, 0], table.train_pairs[:, 0]))
    assert len(np.setdiff1d(table.test_pairs[:, 1], table.train_pairs[:, 1]))
    pairs = np.concatenate([table.train_pairs, table.test_pairs])
    assert all(problem.dataset.smiles[drug] for drug in pairs[:, 0].tolist())
    assert not all(problem.dataset.smiles)


DIGESTS = {"bindings": "0a995f94259d05e6", "affinities": "5569a03a1812cf2b"}


@pytest.mark.parametrize("name", DIGESTS)
def test_every_method_is_asked_the_same_made_up_problems(name: str) -> None:
    """That one passed the self-test means the same everywhere, today and tomorrow."""
    problem = getattr(problems, name)()
    given = BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {})
    truth = [
        np.column_stack([one.split.rows, one.split.values_on(one.dataset)])
        for one in (problem, problem.with_other_test_labels())
    ]
    names = (problem.dataset.drug_ids, problem.dataset.target_ids, problem.dataset.node_names)
    told = [*given.items(), *((str(number), one) for number, one in enumerate((*truth, *names)))]
    files = [as_file(key, value) for key, value in told]
    assert sha256(b"".join(file.content for file in files)).hexdigest()[:16] == DIGESTS[name]
