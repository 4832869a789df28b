"""What a method must do, one check each; a check that fails says why in words its author can act on."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from harness.conformance import problems
from harness.conformance.problems import INNER_FOLDS, Problem, problem_for
from harness.files import digest_of
from harness.methods import MethodCard, merged_parameters
from harness.trials import Runner, Trial
from harness.vocabulary import Verdict

_SEED, _OTHER_SEED = 17263407, 22928437
Answer = dict[str, bytes]
_ANSWERS = ("predictions.npy", "validation.npy", "lowest.npy")


@dataclass(frozen=True)
class CheckResult:
    """Whether a method passed one check, and if not, why."""

    check: str
    passed: bool
    reason: str = ""


class Fault(Exception):
    """The method did not do what the check asks."""


@dataclass(frozen=True)
class Check:
    """One thing every method must do."""

    name: str
    promise: str
    look: Callable[[Bench], None]


class Bench:
    """The runs of one method: an equal trial is not run twice, unless a check is about repeating it."""

    def __init__(self, card: MethodCard, run: Runner) -> None:
        self.card = card
        self._run = run
        self._answers: dict[str, Answer] = {}

    def answer(self, trial: Trial, *, again: bool = False) -> Answer:
        """The bytes of a valid answer, which is all that may be in /out."""
        described = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in trial.inputs.items()}
        key = digest_of([described, trial.inner_folds, trial.seed])
        if again or key not in self._answers:
            with self._run(trial) as result:
                if result.verdict is not Verdict.OK:
                    raise Fault(f"the run ended with {result.verdict}: {result.reason}")
                if result.ignored:
                    raise Fault(f"the run left more than its answer: {', '.join(result.ignored)}")
                written = [name for name in _ANSWERS if (result.out / name).is_file()]
                self._answers[key] = {name: (result.out / name).read_bytes() for name in written}
        return self._answers[key]


def self_test(card: MethodCard, run: Runner) -> Iterator[CheckResult]:
    """All checks, in order."""
    bench = Bench(card, run)
    for check in CHECKS:
        yield apply(check, bench)


def apply(check: Check, bench: Bench) -> CheckResult:
    """One check."""
    try:
        check.look(bench)
    except Fault as fault:
        return CheckResult(check.name, passed=False, reason=str(fault))
    return CheckResult(check.name, passed=True)


def _trial(card: MethodCard, problem: Problem, inner_folds: int, seed: int = _SEED) -> Trial:
    return Trial(
        card=card,
        benchmark=card.benchmarks[0],
        inputs=problem.inputs(card, inner_folds),
        parameters=merged_parameters(card, "published", card.self_test),
        seed=seed,
        inner_folds=inner_folds,
    )


def _array(answer: Answer, name: str) -> np.typing.NDArray[np.float64]:
    return np.array(np.load(io.BytesIO(answer[name])))


def _tells_its_lowest_score(bench: Bench) -> None:
    """The published treatment of zeros needs it, and only the container sees every score."""
    problem = problem_for(bench.card, problems.ordinary)
    trial = _trial(bench.card, problem, 0)
    folds = trial.inputs["folds"]
    # everything is asked for, so that the mask of items no longer tells what may be learned from
    asked = {"folds": np.full_like(folds, -1), "training": (folds >= 0).astype(np.int8)}
    everything = replace(trial, inputs={**trial.inputs, **asked})
    answer = bench.answer(everything)
    if "lowest.npy" not in answer:
        raise Fault("lowest.npy is missing: the SDK of its language writes it")
    scores, lowest = _array(answer, "predictions.npy"), _array(answer, "lowest.npy")
    expected = scores[scores != 0].min() if scores.any() else 0.0
    if lowest.tolist() != [expected]:
        raise Fault(f"lowest.npy holds {lowest.tolist()}, the smallest score other than zero is {expected}")


def _solves(make: Callable[[], Problem], inner_folds: int) -> Callable[[Bench], None]:
    def look(bench: Bench) -> None:
        bench.answer(_trial(bench.card, problem_for(bench.card, make), inner_folds))

    return look


def _repeats(bench: Bench) -> None:
    trial = _trial(bench.card, problem_for(bench.card, problems.ordinary), INNER_FOLDS)
    first, second = bench.answer(trial), bench.answer(trial, again=True)
    if differing := [name for name in first if first[name] != second.get(name)]:
        raise Fault(f"two equal runs differ in {', '.join(differing)}: seed every generator with the job's seed")


def _heeds_the_seed(bench: Bench) -> None:
    trial = _trial(bench.card, problem_for(bench.card, problems.ordinary), INNER_FOLDS)
    same = bench.answer(trial) == bench.answer(replace(trial, seed=_OTHER_SEED))
    if bench.card.deterministic and not same:
        raise Fault("another seed gives another answer, but the card says deterministic = true")
    if not bench.card.deterministic and same:
        raise Fault("another seed gives the same answer, but the card says deterministic = false")


def _keeps_order(bench: Bench) -> None:
    """Scores belong to the asked items, in their order: asked for fewer, it gives these the same scores."""
    card, problem = bench.card, problem_for(bench.card, problems.ordinary)
    trial = _trial(card, problem, 0)
    folds = trial.inputs["folds"]
    fewer = folds.copy()
    asked = np.argwhere(folds == -1)
    fewer[tuple(asked[::2].T)] = -2
    smaller = replace(trial, inputs={**trial.inputs, "folds": fewer})
    all_asked, fewer_asked = (_array(bench.answer(one), "predictions.npy")[0] for one in (trial, smaller))
    same = np.array_equal(all_asked[1::2], fewer_asked)
    if not same and not card.asked_together:
        raise Fault(
            "asked for fewer items, it gives them other scores: are scores in row-major order of the mask?"
        )
    if same and card.asked_together:
        raise Fault("asked for fewer items, it gives them the same scores, but the card says asked_together")


def _is_not_told_the_truth(bench: Bench) -> None:
    """Needs no run: what is mounted must not depend on the labels of test items."""
    problem = problem_for(bench.card, problems.ordinary)
    seen, other = (one.inputs(bench.card, INNER_FOLDS) for one in (problem, problem.with_other_test_labels()))
    told = [name for name in seen if not np.array_equal(seen[name], other[name], equal_nan=True)]
    if told:
        raise Fault(f"labels of test items change {', '.join(told)}")


CHECKS = (
    Check("five-models", "answers a job with five inner models", _solves(problems.ordinary, INNER_FOLDS)),
    Check("one-model", "answers a job without inner models", _solves(problems.ordinary, 0)),
    Check("negatives", "answers where labels of -1 occur", _solves(problems.with_negatives, INNER_FOLDS)),
    Check("one-positive", "answers where one association is all there is", _solves(problems.with_one_positive, 5)),
    Check("more-diseases", "answers where diseases outnumber drugs", _solves(problems.with_more_diseases, 0)),
    Check("repeats", "gives the same bytes for the same job", _repeats),
    Check("seed", "depends on the seed as its card says", _heeds_the_seed),
    Check("order", "gives every item the score that belongs to it", _keeps_order),
    Check("lowest", "tells its smallest score other than zero", _tells_its_lowest_score),
    Check("truth", "is not told the labels of test items", _is_not_told_the_truth),
)
