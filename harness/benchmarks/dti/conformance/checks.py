"""What a method of `dti` must do, one check each, in six runs where the first other order tells enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.conformance.problems import Problem
from harness.benchmarks.dti.names import SCORES
from harness.conformance import checks

# a sum may be rounded otherwise where other pairs are in the batch; relative to the largest score
_ROUNDING = 1e-5


def _on(make: Callable[[], Problem]) -> checks.MakeTrial:
    return lambda card: checks.trial_of(card, "dti", make())


def _is_same(bench: checks.Bench, first: int) -> bool:
    trial = _on(problems.bindings)(bench.card)
    rows = np.arange(first, len(trial.inputs["test_pairs"]), 2)
    fewer = replace(trial, inputs={**trial.inputs, "test_pairs": np.asarray(trial.inputs["test_pairs"])[rows]})
    all_asked, fewer_asked = (checks.array_of(bench.answer(one), SCORES) for one in (trial, fewer))
    return bool((np.abs(all_asked[rows] - fewer_asked) <= _ROUNDING * np.abs(all_asked).max()).all())


_BINDINGS = _on(problems.bindings)
_LEARNS = checks.learns("dti", problems.bindings)
_KEEPS_ORDER = checks.keeps_order(_is_same, "pairs", "scores")
_TRUTH = checks.is_not_told_the_truth(problems.bindings, problems.affinities)

CHECKS = (
    checks.Check("bindings", "answers where pairs bind or do not", checks.solves(_BINDINGS)),
    checks.Check("affinities", "answers where pairs have an affinity", checks.solves(_on(problems.affinities))),
    checks.Check("repeats", "gives the same bytes for the same job", checks.repeats(_BINDINGS)),
    checks.Check("seed", "depends on the seed as its card says", checks.heeds_the_seed(_BINDINGS)),
    checks.Check("order", "gives every pair the score that belongs to it", _KEEPS_ORDER),
    checks.Check("learns", "scores do not depend on the order of drugs, targets and pairs", _LEARNS),
    checks.Check("truth", "is not told the truth about test pairs", _TRUTH),
)
