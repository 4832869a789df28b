"""What a check is, and those every benchmark has; a check that fails says why in words its author can act on."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol

import numpy as np

from harness import benchmarks
from harness.base.files import digest_of
from harness.base.input_files import Array, Given, is_equal
from harness.base.vocabulary import Verdict
from harness.benchmarks.contract import Benchmark, D, S
from harness.benchmarks.method_report import METHOD, read_report
from harness.execution.inputs import arrange
from harness.execution.trials import Runner, Trial
from harness.methods.card import MethodCard, merged_parameters
from harness.results.learning import RUNS, compare_orders, order_free

SEED, _OTHER_SEED = 17263407, 22928437
# on a small problem; labels are worth far more
_CLOSE = 0.1
Answer = dict[str, bytes]
Options = Mapping[str, int]
NONE: Options = MappingProxyType({})


class Problem(Protocol):
    """What a method is handed in a check."""

    def inputs(self, card: MethodCard, options: Options) -> Mapping[str, Given]:
        """What a method declares, and nothing else, made as for any run."""
        ...

    def with_other_test_labels(self) -> Problem:
        """The same problem with another truth about its test items."""
        ...


class ScoredProblem(Problem, Protocol):
    """A problem whose answers can be scored."""

    def metrics(self, answer: Mapping[str, Any]) -> Mapping[str, float | None]:
        """The scores of an answer, by the truth; each file as `content_of` gives it."""
        ...


@dataclass(frozen=True)
class MadeUp(Generic[D, S]):
    """A dataset nobody published, and a split of it; a benchmark's problems add another truth to it."""

    benchmark: ClassVar[Benchmark[Any, Any, Any]]
    dataset: D
    split: S

    def inputs(self, card: MethodCard, options: Options) -> Mapping[str, Given]:
        """What a method declares and is always given, and nothing else, made as for any run."""
        return self.benchmark.inputs(self.dataset, self.split, card.inputs, options)


@dataclass(frozen=True)
class CheckResult:
    """Whether a method passed one check, and if not, why."""

    check: str
    passed: bool
    reason: str = ""


class Fault(Exception):
    """The method did not do what the check asks."""


Look = Callable[["Bench"], None]
MakeTrial = Callable[[MethodCard], Trial]


@dataclass(frozen=True)
class Check:
    """A promise that every method must keep, and what examines it."""

    name: str
    promise: str
    look: Look


class Bench:
    """The runs of one method: an equal trial is not run twice, unless a check is about repeating it."""

    def __init__(self, card: MethodCard, run: Runner) -> None:
        self.card = card
        self._run = run
        self._answers: dict[str, Answer] = {}

    def answer(self, trial: Trial, *, again: bool = False) -> Answer:
        """The bytes of a valid answer, which is all that may be in /out."""
        digests = {name: _digest_of(value) for name, value in trial.inputs.items()}
        key = digest_of([digests, dict(trial.options), trial.seed])
        if again or key not in self._answers:
            with self._run(trial) as result:
                if result.verdict is not Verdict.OK:
                    raise Fault(f"the run ended with {result.verdict}: {result.reason}")
                if result.ignored:
                    raise Fault(f"the run left more than its answer: {', '.join(result.ignored)}")
                _refuse_dropped(result.out / METHOD)
                names = (file.name for file in benchmarks.get(trial.benchmark).answer_files)
                paths = [path for name in names if (path := result.out / name).is_file()]
                self._answers[key] = {path.name: path.read_bytes() for path in paths}
        return self._answers[key]

    def compared(self, trial: Trial, *, again: bool = False) -> Answer:
        """Those files of an answer that an equal run must give again; never none."""
        names = benchmarks.get(trial.benchmark).compared_files
        files = {name: content for name, content in self.answer(trial, again=again).items() if name in names}
        if not files:
            raise Fault("its answer has no file that could be compared")
        return files


def _refuse_dropped(report: Path) -> None:
    """Numpy turns complex scores into real ones, and warns."""
    warnings = read_report(report).warnings if report.is_file() else []
    if told := [one for one in warnings if one.startswith("ComplexWarning")]:
        raise Fault(f"its scores are complex, and their imaginary parts were dropped: give real ones ({told[0]})")


def apply(check: Check, bench: Bench) -> CheckResult:
    """The result of one check."""
    try:
        check.look(bench)
    except Fault as fault:
        return CheckResult(check.name, passed=False, reason=str(fault))
    return CheckResult(check.name, passed=True)


def trial_of(card: MethodCard, name: str, problem: Problem, options: Options = NONE) -> Trial:
    """A run of a benchmark's method on a made-up problem."""
    variant = card.runs_everywhere
    return Trial(
        card=card.of_variant(variant),
        benchmark=name,
        inputs=problem.inputs(card, options),
        parameters=merged_parameters(card, variant, card.self_test),
        seed=SEED,
        variant=variant,
        options=options,
    )


def array_of(answer: Answer, name: str) -> Array:
    """One array of an answer."""
    return np.array(np.load(io.BytesIO(answer[name])))


def content_of(answer: Answer, name: str) -> Any:
    """One file of an answer as `Arrangement.restore` takes it: an array, or lines."""
    return array_of(answer, name) if name.endswith(".npy") else answer[name].splitlines(keepends=True)


def solves(make: MakeTrial) -> Look:
    """The method gives a valid answer."""

    def look(bench: Bench) -> None:
        bench.compared(make(bench.card))

    return look


def repeats(make: MakeTrial) -> Look:
    """Two equal runs give equal bytes."""

    def look(bench: Bench) -> None:
        trial = make(bench.card)
        first, second = bench.compared(trial), bench.compared(trial, again=True)
        if differences := sorted(name for name in {*first, *second} if first.get(name) != second.get(name)):
            raise Fault(
                f"two equal runs differ in {', '.join(differences)}: seed every generator with the job's seed"
            )

    return look


def heeds_the_seed(make: MakeTrial) -> Look:
    """Another seed gives another answer where the card says so, and only there."""

    def look(bench: Bench) -> None:
        trial = make(bench.card)
        same = bench.compared(trial) == bench.compared(replace(trial, seed=_OTHER_SEED))
        if bench.card.deterministic and not same:
            raise Fault("another seed gives another answer, but the card says deterministic = true")
        if not bench.card.deterministic and same:
            raise Fault("another seed gives the same answer, but the card says deterministic = false")

    return look


def learns(name: str, make: Callable[[], ScoredProblem], options: Options = NONE) -> Look:
    """Scores do not depend on the order of items, as they would if labels were read from that order."""

    def look(bench: Bench) -> None:
        problem = make()
        trial = trial_of(bench.card, name, problem, options)
        answer = bench.answer(trial)
        published = order_free(name, problem.metrics({file: content_of(answer, file) for file in answer}))
        if not published:
            raise Fault("its answer has no score that could depend on the order of items: nothing can be compared")
        others = []
        for number in range(RUNS):
            # any secret will do, if it is always the same
            arrangement = arrange(name, trial.inputs, f"self-test {number}")
            answer = bench.answer(replace(trial, inputs=arrangement.inputs))
            contents = {file: content_of(answer, file) for file in answer}
            for file in contents.keys() & arrangement.restore.keys():
                contents[file] = arrangement.restore[file](contents[file])
            others.append(problem.metrics(contents))
            if likeness := compare_orders(published, others, close=_CLOSE):
                break
        if likeness is not None and likeness.alike is False:
            raise Fault(f"{likeness.what}: {likeness.found}, {likeness.expected}")

    return look


def keeps_order(is_same: Callable[[Bench, int], bool], items: str, answers: str) -> Look:
    """Answers lie in the order of what is asked: asked for every second item, from the first or the one behind
    it, the method gives these the same answers, unless its card says `asked_together`."""

    def look(bench: Bench) -> None:
        what = f"asked for fewer {items}, it gives them"
        if not bench.card.asked_together:
            if not is_same(bench, 0):
                raise Fault(f"{what} other {answers}: are they in the order of the {items}?")
        # what an answer depends on, the extreme ones for example, may lie in one half
        elif is_same(bench, 0) and is_same(bench, 1):
            raise Fault(f"{what} the same {answers}, but the card says asked_together")

    return look


def is_not_told_the_truth(*makers: Callable[[], Problem], options: Options = NONE) -> Look:
    """The inputs of a run do not depend on the labels of test items. No run is needed."""

    def look(bench: Bench) -> None:
        for problem in (make() for make in makers):
            inputs = problem.inputs(bench.card, options)
            others = problem.with_other_test_labels().inputs(bench.card, options)
            if not inputs:
                raise Fault("it is handed no input: nothing can be compared")
            if changes := [name for name in inputs if not is_equal(inputs[name], others[name])]:
                raise Fault(f"labels of test items change {', '.join(changes)}")

    return look


def _digest_of(value: Given) -> str:
    return hashlib.sha256(value.tobytes()).hexdigest() if isinstance(value, np.ndarray) else digest_of(list(value))
