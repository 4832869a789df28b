"""What the self-test runs, how often, and what it says to the author of a method that breaks a promise."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.input_files import Given
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.base.vocabulary import Verdict
from harness.conformance import checks, checks_of
from harness.conformance.checks import (
    SEED,
    Bench,
    Check,
    CheckResult,
    Look,
    apply,
    heeds_the_seed,
    is_not_told_the_truth,
    keeps_order,
    learns,
    repeats,
    solves,
    trial_of,
)
from harness.execution.trials import Result, Trial
from harness.methods.card import MethodCard, Resources, Variant, load_method
from harness.results.learning import RUNS

OTHER_SEED = 22928437
Files = Callable[[Trial, int], Mapping[str, bytes]]


class Method:
    """Answers with the files of a function of the trial and of how many there were before."""

    def __init__(self, folder: Path, files: Files) -> None:
        self.folder, self.files = folder, files
        self.asked: list[Trial] = []
        self.verdict, self.reason = Verdict.OK, ""
        self.ignored: tuple[str, ...] = ()

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        out = self.folder / f"out-{len(self.asked)}"
        out.mkdir()
        for name, content in self.files(trial, len(self.asked)).items():
            (out / name).write_bytes(content)
        self.asked.append(trial)
        yield Result(self.verdict, self.reason, out, 0.0, self.ignored)


def predictions(*values: float) -> dict[str, bytes]:
    return {"predictions.npy": npy_bytes(np.array([values], dtype=float))}


class Made:
    """A made-up problem of one input; its score is the first value of the answer."""

    def __init__(self, told: float = 0.0, truth: float = 0.0, leaks: bool = False) -> None:
        self.told, self.truth, self.leaks = told, truth, leaks

    def inputs(self, card: MethodCard, options: Mapping[str, int]) -> Mapping[str, Given]:
        labels, folds = np.eye(6, 5), np.zeros((6, 5), dtype=np.int8)
        labels[0, :2] = self.told, self.truth if self.leaks else 0.0
        folds[0, 1] = -1
        return {"associations": labels, "folds": folds, "drug_ids": np.arange(6.0).reshape(6, 1)}

    def with_other_test_labels(self) -> Made:
        return Made(self.told, self.truth + 1, self.leaks)

    def metrics(self, answer: Mapping[str, Any]) -> Mapping[str, float | None]:
        value = float(np.ravel(answer["predictions.npy"])[0])
        return dict.fromkeys(benchmarks.get("repurposing").order_free_metrics, value)


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    return load_method(layout, "constant")


def a_trial(card: MethodCard) -> Trial:
    return trial_of(card, "repurposing", Made())


def result_of(look: Look, bench: Bench) -> CheckResult:
    return apply(Check("a check", "a promise", look), bench)


def reason_of(look: Look, card: MethodCard, method: Method) -> str:
    result = result_of(look, Bench(card, method))
    assert result.check == "a check" and result.passed is not bool(result.reason)
    return result.reason


def test_an_equal_trial_is_run_once_and_another_again(card: MethodCard, tmp_path: Path) -> None:
    method = Method(tmp_path, lambda trial, number: predictions(number))
    bench, trial = Bench(card, method), a_trial(card)
    first = bench.answer(trial)
    assert first == predictions(0.0) == bench.answer(replace(trial)) and len(method.asked) == 1
    others = [
        replace(trial, seed=trial.seed + 1),
        replace(trial, options={"inner_folds": 5}),
        replace(trial, inputs={**trial.inputs, "drug_ids": ["a", "c"]}),
        replace(trial, inputs={**trial.inputs, "associations": np.ones((6, 5))}),
    ]
    assert [bench.answer(other) for other in others] == [predictions(number) for number in (1, 2, 3, 4)]
    assert bench.answer(trial, again=True) == predictions(5) == bench.answer(trial)


def test_only_files_of_an_answer_are_read(card: MethodCard, tmp_path: Path) -> None:
    method = Method(tmp_path, lambda trial, number: {**predictions(1), "notes.txt": b"", "lowest.npy": b"x"})
    assert sorted(Bench(card, method).answer(a_trial(card))) == ["lowest.npy", "predictions.npy"]


def test_a_run_that_fails_or_leaves_more_is_told_with_its_own_words(card: MethodCard, tmp_path: Path) -> None:
    method = Method(tmp_path, lambda trial, number: predictions(1))
    look = solves(a_trial)
    assert reason_of(look, card, method) == ""
    method.ignored = ("a.txt", "b.txt")
    assert reason_of(look, card, method) == "the run left more than its answer: a.txt, b.txt"
    method.verdict, method.reason = Verdict.TIMEOUT, "stopped at 20 s"
    assert reason_of(look, card, method) == "the run ended with timeout: stopped at 20 s"
    nothing = Method(tmp_path / "none", lambda trial, number: {})
    nothing.folder.mkdir()
    assert reason_of(look, card, nothing) == "its answer has no file that could be compared"


def test_scores_whose_imaginary_parts_were_dropped_are_no_answer(card: MethodCard, tmp_path: Path) -> None:
    """The run itself ends well: its scores are real by then."""
    warnings = ["ComplexWarning: Casting complex values to real discards the imaginary part"]

    def answer(_: Trial, __: int) -> dict[str, bytes]:
        report = {"protocol": 1, "warnings": warnings, "cpu_seconds": 1.0, "peak_memory_bytes": 1}
        return {**predictions(1), "method.json": json.dumps(report).encode()}

    look = solves(a_trial)
    method = Method(tmp_path, answer)
    assert reason_of(look, card, method) == (
        f"its scores are complex, and their imaginary parts were dropped: give real ones ({warnings[0]})"
    )
    warnings[0] = "RuntimeWarning: no ComplexWarning"
    assert reason_of(look, card, method) == ""


def test_two_equal_runs_are_two_runs(card: MethodCard, tmp_path: Path) -> None:
    same = Method(tmp_path, lambda trial, number: predictions(1))
    assert reason_of(repeats(a_trial), card, same) == "" and len(same.asked) == 2
    other = Method(tmp_path / "o", lambda trial, number: {**predictions(number), "lowest.npy": bytes([number])})
    other.folder.mkdir()
    assert reason_of(repeats(a_trial), card, other) == (
        "two equal runs differ in lowest.npy, predictions.npy: seed every generator with the job's seed"
    )


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_only_one_of_two_equal_runs_left_is_a_difference(
    card: MethodCard, tmp_path: Path, which: int
) -> None:
    more = {"lowest.npy": b"more"}
    method = Method(tmp_path, lambda trial, number: predictions(1) | (more if number == which else {}))
    assert reason_of(repeats(a_trial), card, method) == (
        "two equal runs differ in lowest.npy: seed every generator with the job's seed"
    )


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("heeds", [True, False])
def test_a_card_says_whether_the_seed_counts(
    card: MethodCard, tmp_path: Path, deterministic: bool, heeds: bool
) -> None:
    method = Method(tmp_path, lambda trial, number: predictions(trial.seed if heeds else 1))
    one = card.model_copy(update={"deterministic": deterministic})
    reason = reason_of(heeds_the_seed(a_trial), one, method)
    assert [trial.seed for trial in method.asked] == [SEED, OTHER_SEED]
    same = "another" if heeds else "the same"
    said = "true" if deterministic else "false"
    wrong = heeds is deterministic
    assert reason == (
        f"another seed gives {same} answer, but the card says deterministic = {said}" if wrong else ""
    )


def test_a_method_that_learns_is_run_until_that_is_clear(card: MethodCard, tmp_path: Path) -> None:
    look = learns("repurposing", Made)
    alike = Method(tmp_path, lambda trial, number: predictions(0.7))
    assert reason_of(look, card, alike) == "" and len(alike.asked) == 2
    worse = Method(tmp_path / "w", lambda trial, number: predictions(0.7 + 0.05 * bool(number)))
    worse.folder.mkdir()
    assert reason_of(look, card, worse) == "" and len(worse.asked) == 2, "near enough on a small problem"
    reads = Method(tmp_path / "r", lambda trial, number: predictions(0.5 if number else 0.9))
    reads.folder.mkdir()
    metric = benchmarks.get("repurposing").order_free_metrics[0]
    assert reason_of(look, card, reads) == (
        f"{metric} depends on the order of items: labels are read from it: 0.9000 in the published order, "
        f"0.5000 ± 0.0000, as in {RUNS} secret orders"
    )
    assert len(reads.asked) == 1 + RUNS
    orders = {trial.inputs["associations"].tobytes() for trial in reads.asked}
    assert len(orders) > 1, "they are other orders"


def test_scores_that_tell_neither_are_no_fault(card: MethodCard, tmp_path: Path) -> None:
    """To be worse in the published order is no sign of reading."""
    method = Method(tmp_path, lambda trial, number: predictions(0.9 if number else 0.5))
    assert reason_of(learns("repurposing", Made), card, method) == ""


def test_no_score_that_could_depend_on_an_order_is_a_fault(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmarks.get("repurposing"), "order_free_metrics", ())
    method = Method(tmp_path, lambda trial, number: predictions(1))
    assert reason_of(learns("repurposing", Made), card, method) == (
        "its answer has no score that could depend on the order of items: nothing can be compared"
    )


_FEWER = "asked for fewer pairs, it gives them"


@pytest.mark.parametrize(
    ("same", "together", "reason"),
    [
        ((True, True), "", ""),
        (
            (False, True),
            "",
            "asked for fewer pairs, it gives them other scores: are they in the order of the pairs?",
        ),
        ((True, False), "", ""),
        ((False, False), "it counts", ""),
        ((True, False), "it counts", ""),
        ((False, True), "it counts", ""),
        (
            (True, True),
            "it counts",
            f"{_FEWER} the same scores, but the card says asked_together",
        ),
    ],
)
def test_an_answer_is_in_the_order_of_what_is_asked(
    card: MethodCard, tmp_path: Path, same: tuple[bool, bool], together: str, reason: str
) -> None:
    look = keeps_order(lambda bench, start: same[start], "pairs", "scores")
    one = card.model_copy(update={"asked_together": together})
    assert reason_of(look, one, Method(tmp_path, lambda trial, number: {})) == reason


def test_inputs_that_tell_of_test_labels_are_named(card: MethodCard, tmp_path: Path) -> None:
    method = Method(tmp_path, lambda trial, number: {})
    assert reason_of(is_not_told_the_truth(Made), card, method) == ""
    leaking = is_not_told_the_truth(Made, lambda: Made(leaks=True))
    assert reason_of(leaking, card, method) == "labels of test items change associations"

    class Telling(Made):
        """Its ids tell of the truth, too."""

        def inputs(self, card: MethodCard, options: Mapping[str, int]) -> Mapping[str, Given]:
            given = super().inputs(card, options)
            return {**given, "drug_ids": np.asarray(given["associations"])[:, :2]}

        def with_other_test_labels(self) -> Made:
            return Telling(self.told, self.truth + 1, self.leaks)

    both = is_not_told_the_truth(lambda: Telling(leaks=True))
    assert reason_of(both, card, method) == "labels of test items change associations, drug_ids"
    assert not method.asked, "no run is needed"


def test_a_trial_is_of_a_variant_that_runs_everywhere(card: MethodCard) -> None:
    """With the limits of that variant and the parameters of the self-test."""
    variants = {
        "published": Variant(summary="s", weights=True, parameters={"rate": 1.0, "epochs": 9}),
        "small": Variant(summary="s", parameters={"rate": 2.0, "epochs": 9}, resources=Resources(cpus=4)),
    }
    one = card.model_copy(update={"variants": variants, "self_test": {"epochs": 2}})
    trial = trial_of(one, "repurposing", Made(), {"inner_folds": 5})
    assert (trial.variant, trial.seed, trial.options) == ("small", SEED, {"inner_folds": 5})
    assert trial.parameters == {"rate": 2.0, "epochs": 2} and trial.card.resources.cpus == 4
    assert (trial.task, trial.trace, trial.answers, trial.benchmark) == ("predict", False, True, "repurposing")
    assert sorted(trial.inputs) == ["associations", "drug_ids", "folds"]


def test_files_of_an_answer_are_arrays_or_lines() -> None:
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    answer = {"a.npy": stream.getvalue(), "b.jsonl": b"one\ntwo"}
    array = checks.content_of(answer, "a.npy")
    assert array.tolist() == [0, 1, 2] and array.flags.writeable
    assert checks.content_of(answer, "b.jsonl") == [b"one\n", b"two"]


def test_a_fault_of_the_harness_is_none_of_the_method(card: MethodCard, tmp_path: Path) -> None:
    def look(bench: Bench) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        result_of(look, Bench(card, Method(tmp_path, lambda trial, number: {})))


def test_a_benchmark_without_a_self_test_says_what_to_add(
    card: MethodCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = checks_of(card)
    assert checks_of(card.model_copy(update={"benchmarks": ["repurposing", "ddi"]}))[: len(every)] == every
    real = benchmarks.part
    monkeypatch.setattr(benchmarks, "part", lambda name, part: None if name != "repurposing" else real(name, part))
    with pytest.raises(UsageError) as error:
        checks_of(card.model_copy(update={"benchmarks": ["ddi", "repurposing", "dti"]}))
    assert error.value.what == "there is no self-test yet for ddi, dti"
    assert error.value.where == "method 'constant'"
    assert error.value.todo == "add made-up problems and checks: conformance/ in the benchmark's package"
