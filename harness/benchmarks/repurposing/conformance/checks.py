"""What a method of `repurposing` must do, one check each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.conformance.problems import INNER_FOLDS, Problem
from harness.conformance.checks import (
    Bench,
    Check,
    Fault,
    MakeTrial,
    array_of,
    heeds_the_seed,
    is_not_told_the_truth,
    learns,
    repeats,
    solves,
    trial_of,
)


def _on(make: Callable[[], Problem], inner_folds: int) -> MakeTrial:
    return lambda card: trial_of(card, "repurposing", make(), {"inner_folds": inner_folds})


def _tells_its_lowest_score(bench: Bench) -> None:
    """The published treatment of zeros needs it, and only the container sees every score."""
    trial = _on(problems.ordinary, 0)(bench.card)
    folds = np.asarray(trial.inputs["folds"])
    # everything is asked for, so that the mask of items no longer tells what may be learned from
    masks = {"folds": np.full_like(folds, -1), "training": (folds >= 0).astype(np.int8)}
    whole = replace(trial, inputs={**trial.inputs, **masks})
    answer = bench.answer(whole)
    if "lowest.npy" not in answer:
        raise Fault("lowest.npy is missing: the SDK of its language writes it")
    scores, lowest = array_of(answer, "predictions.npy"), array_of(answer, "lowest.npy")
    expected = scores[scores != 0].min() if scores.any() else 0.0
    if lowest.tolist() != [expected]:
        raise Fault(f"lowest.npy holds {lowest.tolist()}, the smallest score other than zero is {expected}")


def _keeps_order(bench: Bench) -> None:
    """Scores belong to the asked items, in their order: asked for fewer, it gives these the same scores."""
    card, trial = bench.card, _on(problems.ordinary, 0)(bench.card)
    folds = np.asarray(trial.inputs["folds"])
    fewer = folds.copy()
    items = np.argwhere(folds == -1)
    fewer[tuple(items[::2].T)] = -2
    smaller = replace(trial, inputs={**trial.inputs, "folds": fewer})
    all_asked, fewer_asked = (array_of(bench.answer(one), "predictions.npy")[0] for one in (trial, smaller))
    same = np.array_equal(all_asked[1::2], fewer_asked)
    if not same and not card.asked_together:
        raise Fault(
            "asked for fewer items, it gives them other scores: are scores in row-major order of the mask?"
        )
    if same and card.asked_together:
        raise Fault("asked for fewer items, it gives them the same scores, but the card says asked_together")


_FIVE_MODELS = _on(problems.ordinary, INNER_FOLDS)

CHECKS = (
    Check("five-models", "answers a job with five inner models", solves(_FIVE_MODELS)),
    Check("one-model", "answers a job without inner models", solves(_on(problems.ordinary, 0))),
    Check("negatives", "answers where labels of -1 occur", solves(_on(problems.with_negatives, INNER_FOLDS))),
    Check(
        "one-positive",
        "answers where one association is all there is",
        solves(_on(problems.with_one_positive, INNER_FOLDS)),
    ),
    Check(
        "more-diseases",
        "answers where diseases outnumber drugs",
        solves(_on(problems.with_more_diseases, 0)),
    ),
    Check("repeats", "gives the same bytes for the same job", repeats(_FIVE_MODELS)),
    Check("seed", "depends on the seed as its card says", heeds_the_seed(_FIVE_MODELS)),
    Check("order", "gives every item the score that belongs to it", _keeps_order),
    Check("lowest", "tells its smallest score other than zero", _tells_its_lowest_score),
    Check(
        "learns",
        "scores do not depend on the order of drugs and diseases",
        learns("repurposing", problems.as_published, {"inner_folds": 0}),
    ),
    Check(
        "truth",
        "is not told the labels of test items",
        is_not_told_the_truth(problems.ordinary, options={"inner_folds": INNER_FOLDS}),
    ),
)
