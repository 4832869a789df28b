"""What a method of benchmark `repurposing` sees of the harness: labels come in, scores of all pairs go out.

A method's `main.py` ends with `run(fit_predict)`. For each inner model the items that it must not see are hidden,
and the scores that the protocol asks for are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from permafrost_sdk import Array, Job, perform, write_npy, write_traces

__all__ = ["Answer", "Array", "Problem", "run"]

TEST = -1


@dataclass(frozen=True)
class Problem:
    """What one inner model may know: labels with its held-out items at 0, which pairs it may train on (labels of 0
    do not tell), the declared inputs, the parameters.

    `asked` are the sets of pairs whose scores are kept, each a mask: the test items, then what this model must not
    see. Only an original that scores pair lists, and not each pair by itself, needs to know them.
    """

    associations: Array
    training: Array
    inputs: Mapping[str, Array]
    parameters: Mapping[str, Any]
    seed: int
    model: int
    trace: bool
    asked: tuple[Array, ...]


@dataclass(frozen=True)
class Answer:
    """Scores of all pairs; the iterations it took and arrays to compare with goldens where a method has them."""

    scores: Array
    iterations: int | None = None
    trace: Mapping[str, Array] = field(default_factory=dict)


def run(fit_predict: Callable[[Problem], Answer]) -> None:
    """Do the job, model by model."""
    perform(_Models, fit_predict)


class _Models:
    """The inner models of a job; without inner folds, one that sees all training items."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._inputs = {name: np.asarray(array) for name, array in job.inputs.items()}
        self._associations, self._folds = self._inputs.pop("associations"), self._inputs.pop("folds")
        # a golden asks for every pair, so that its folds can't tell which were training
        self._known = self._inputs.pop("training", self._folds >= 0).astype(bool)
        self._inner_folds = int(job.document["inner_folds"])
        self._test = self._folds == TEST
        count = max(self._inner_folds, 1)
        self._predictions, self._lowest = np.zeros((count, int(self._test.sum()))), np.zeros(count)
        self._validation = np.zeros(self._folds.shape)
        self._iterations: list[int | None] = []

    def problems(self) -> Iterator[Problem]:
        for model in range(len(self._lowest)):
            held_out = self._held_out(model)
            yield Problem(
                np.where(held_out, 0, self._associations).astype(self._associations.dtype),
                self._known & ~held_out,
                self._inputs,
                self._job.parameters,
                self._job.seed,
                model,
                self._job.trace and model == 0,
                (self._test, held_out) if self._inner_folds else (self._test,),
            )

    def keep(self, answer: Answer) -> None:
        model, scores = len(self._iterations), answer.scores
        if scores.shape != self._folds.shape:
            raise ValueError(f"scores of shape {scores.shape} for {self._folds.shape} drugs x diseases")
        held_out = self._held_out(model)
        self._predictions[model] = scores[self._test]
        self._validation[held_out] = scores[held_out]
        self._lowest[model] = _lowest(scores)
        self._iterations.append(answer.iterations)
        if self._job.trace and model == 0:
            write_traces(self._job, answer.trace)

    def report(self) -> dict[str, Any]:
        write_npy(self._job.out / "predictions.npy", self._predictions)
        write_npy(self._job.out / "lowest.npy", self._lowest)
        if self._inner_folds:
            write_npy(self._job.out / "validation.npy", self._validation[self._folds >= 0])
        return {"iterations": None if None in self._iterations else self._iterations}

    def _held_out(self, model: int) -> Array:
        return self._folds == model if self._inner_folds else np.zeros(self._folds.shape, dtype=bool)


def _lowest(scores: Array) -> float:
    """The smallest score other than zero: the published scorer replaces zeros by a number made from it."""
    scored = scores[scores != 0]
    return float(scored.min()) if scored.size else 0.0
