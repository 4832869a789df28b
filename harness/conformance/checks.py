"""What a method must do, one check each; a check that fails says why in words its author can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harness.conformance import problems
from harness.conformance.problems import INNER_FOLDS, Problem, problem_for
from harness.methods import MethodCard, merged_parameters
from harness.trials import Runner, Trial
from harness.vocabulary import Verdict

_SEED, _OTHER_SEED = 17263407, 22928437
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
    look: Callable[[MethodCard, Runner], None]


def self_test(card: MethodCard, run: Runner) -> Iterator[CheckResult]:
    """All checks, in order."""
    for check in CHECKS:
        yield apply(check, card, run)


def apply(check: Check, card: MethodCard, run: Runner) -> CheckResult:
    """One check."""
    try:
        check.look(card, run)
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


def _answer(trial: Trial, run: Runner) -> dict[str, bytes]:
    """The bytes of a valid answer, which is all that may be in /out."""
    with run(trial) as result:
        if result.verdict is not Verdict.OK:
            raise Fault(f"the run ended with {result.verdict}: {result.reason}")
        if result.ignored:
            raise Fault(f"the run left more than its answer: {', '.join(result.ignored)}")
        return {name: (result.out / name).read_bytes() for name in _ANSWERS if (result.out / name).is_file()}


def _tells_its_lowest_score(card: MethodCard, run: Runner) -> None:
    """The published treatment of zeros needs it, and only the container sees every score."""
    problem = problem_for(card, problems.ordinary)
    trial = _trial(card, problem, 0)
    everything = replace(trial, inputs={**trial.inputs, "folds": np.full_like(trial.inputs["folds"], -1)})
    with run(everything) as result:
        if result.verdict is not Verdict.OK:
            raise Fault(f"the run ended with {result.verdict}: {result.reason}")
        if not (result.out / "lowest.npy").is_file():
            raise Fault("lowest.npy is missing: the SDK of its language writes it")
        scores, lowest = np.load(result.out / "predictions.npy"), np.load(result.out / "lowest.npy")
    expected = scores[scores != 0].min() if scores.any() else 0.0
    if lowest.tolist() != [expected]:
        raise Fault(f"lowest.npy holds {lowest.tolist()}, the smallest score other than zero is {expected}")


def _solves(make: Callable[[], Problem], inner_folds: int) -> Callable[[MethodCard, Runner], None]:
    def look(card: MethodCard, run: Runner) -> None:
        _answer(_trial(card, problem_for(card, make), inner_folds), run)

    return look


def _repeats(card: MethodCard, run: Runner) -> None:
    trial = _trial(card, problem_for(card, problems.ordinary), INNER_FOLDS)
    first, second = _answer(trial, run), _answer(trial, run)
    if differing := [name for name in first if first[name] != second.get(name)]:
        raise Fault(f"two equal runs differ in {', '.join(differing)}: seed every generator with the job's seed")


def _heeds_the_seed(card: MethodCard, run: Runner) -> None:
    trial = _trial(card, problem_for(card, problems.ordinary), INNER_FOLDS)
    same = _answer(trial, run) == _answer(replace(trial, seed=_OTHER_SEED), run)
    if card.deterministic and not same:
        raise Fault("another seed gives another answer, but the card says deterministic = true")
    if not card.deterministic and same:
        raise Fault("another seed gives the same answer, but the card says deterministic = false")


def _keeps_order(card: MethodCard, run: Runner) -> None:
    """Scores belong to the asked items, in their order: asked for fewer, it gives these the same scores."""
    problem = problem_for(card, problems.ordinary)
    trial = _trial(card, problem, 0)
    folds = trial.inputs["folds"]
    fewer = folds.copy()
    asked = np.argwhere(folds == -1)
    fewer[tuple(asked[::2].T)] = -2
    smaller = replace(trial, inputs={**trial.inputs, "folds": fewer})
    same = np.array_equal(_scores(trial, run)[0, 1::2], _scores(smaller, run)[0])
    if not same and not card.asked_together:
        raise Fault(
            "asked for fewer items, it gives them other scores: are scores in row-major order of the mask?"
        )
    if same and card.asked_together:
        raise Fault("asked for fewer items, it gives them the same scores, but the card says asked_together")


def _scores(trial: Trial, run: Runner) -> np.typing.NDArray[np.float64]:
    with run(trial) as result:
        if result.verdict is not Verdict.OK:
            raise Fault(f"the run ended with {result.verdict}: {result.reason}")
        return np.array(np.load(Path(result.out) / "predictions.npy"))


def _is_not_told_the_truth(card: MethodCard, run: Runner) -> None:
    """Needs no run: what is mounted must not depend on the labels of test items."""
    problem = problem_for(card, problems.ordinary)
    seen, other = (one.inputs(card, INNER_FOLDS) for one in (problem, problem.with_other_test_labels()))
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
