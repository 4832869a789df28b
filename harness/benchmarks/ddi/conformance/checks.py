"""What a method of `ddi` must do, one check each, in six runs: loading a deep learning library takes its time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.benchmarks.ddi.conformance import problems
from harness.benchmarks.ddi.conformance.problems import Problem
from harness.conformance.checks import (
    Bench,
    Check,
    Fault,
    MakeTrial,
    array_of,
    heeds_the_seed,
    is_not_told_the_truth,
    repeats,
    solves,
    trial_of,
)

# a sum may be rounded otherwise where other pairs are in the batch; relative to the largest score
_ROUNDING = 1e-5


def _on(make: Callable[[], Problem]) -> MakeTrial:
    return lambda card: trial_of(card, "ddi", make())


def _keeps_order(bench: Bench) -> None:
    """Scores belong to the asked pairs, in their order: asked for fewer, it gives these the same scores."""
    trial = _on(problems.one_type)(bench.card)
    pairs, settings = (np.asarray(trial.inputs[name]) for name in ("test_pairs", "test_setting"))
    rows = np.flatnonzero(settings == 1)[::2]
    fewer = {"test_pairs": pairs[rows], "test_setting": settings[rows]}
    smaller = replace(trial, inputs={**trial.inputs, **fewer})
    all_asked, fewer_asked = (array_of(bench.answer(one), "predictions.npy") for one in (trial, smaller))
    tolerance = _ROUNDING * np.abs(all_asked).max()
    same = bool((np.abs(all_asked[rows] - fewer_asked) <= tolerance).all())
    if not same and not bench.card.asked_together:
        raise Fault("asked for fewer pairs, it gives them other scores: are scores in the order of the pairs?")
    if same and bench.card.asked_together:
        raise Fault("asked for fewer pairs, it gives them the same scores, but the card says asked_together")


_ONE_TYPE = _on(problems.one_type)

CHECKS = (
    Check("one-type", "answers where an item has one type", solves(_ONE_TYPE)),
    Check("several-types", "answers where a pair has several types at once", solves(_on(problems.several_types))),
    Check("one-setting", "answers where no pair has two new drugs", solves(_on(problems.without_new_pairs))),
    Check("repeats", "gives the same bytes for the same job", repeats(_ONE_TYPE)),
    Check("seed", "depends on the seed as its card says", heeds_the_seed(_ONE_TYPE)),
    Check("order", "gives every pair the scores that belong to it", _keeps_order),
    Check(
        "truth",
        "is not told the labels of test items",
        is_not_told_the_truth(problems.one_type, problems.several_types),
    ),
)
