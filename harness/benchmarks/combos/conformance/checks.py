"""What a method of `combos` must do, one check each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.benchmarks.combos.answer import Combination, combinations_in
from harness.benchmarks.combos.conformance import problems
from harness.benchmarks.combos.names import ANSWER
from harness.conformance import checks
from harness.execution.trials import Trial
from harness.methods.card import MethodCard

# a sum may be rounded otherwise where other candidates are in the batch
_ROUNDING = 1e-5


def _trial(card: MethodCard) -> Trial:
    return checks.trial_of(card, "combos", problems.sentences())


def _read(bench: checks.Bench, trial: Trial) -> list[tuple[Combination, ...]]:
    counts = np.bincount(np.asarray(trial.inputs["spans"])[:, 0], minlength=len(trial.inputs["sentences"]))
    lines = checks.content_of(bench.answer(trial), ANSWER)
    return list(combinations_in(lines, counts[np.asarray(trial.inputs["asked"])].tolist()))


def _alike(one: tuple[Combination, ...], other: tuple[Combination, ...]) -> bool:
    """Whether two documents have the same combinations, scores alike."""
    if len(one) != len(other):
        return False
    return all(
        (first.spans, first.label) == (second.spans, second.label) and abs(first.score - second.score) <= _ROUNDING
        for first, second in zip(one, other, strict=True)
    )


def _is_same(bench: checks.Bench, first: int) -> bool:
    trial = _trial(bench.card)
    fewer = np.asarray(trial.inputs["asked"])[first::2].copy()
    smaller = replace(trial, inputs={**trial.inputs, "asked": fewer})
    return all(map(_alike, _read(bench, trial)[first::2], _read(bench, smaller)))


_KEEPS_ORDER = checks.keeps_order(_is_same, "documents", "combinations")

CHECKS = (
    checks.Check("sentences", "answers sentences with no drug up to sixteen", checks.solves(_trial)),
    checks.Check("repeats", "gives the same bytes for the same job", checks.repeats(_trial)),
    checks.Check("seed", "depends on the seed as its card says", checks.heeds_the_seed(_trial)),
    checks.Check("order", "gives every document the combinations that belong to it", _KEEPS_ORDER),
    checks.Check(
        "learns",
        "scores do not depend on the order of documents and drugs",
        checks.learns("combos", problems.sentences),
    ),
    checks.Check(
        "truth", "is not told the relations of asked documents", checks.is_not_told_the_truth(problems.sentences)
    ),
)
