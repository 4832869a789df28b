"""What a method of benchmark `ddi` sees of the harness: pairs of drugs come in, scores of every type go out.

A method's `main.py` ends with `run(fit_predict)`. Labels of test pairs are not among what there is to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from permafrost_sdk import Array, Given, Job, perform, write_npy

__all__ = ["SETTINGS", "Answer", "Array", "Items", "Problem", "run"]

SETTINGS = ("S0", "S1", "S2")


@dataclass(frozen=True)
class Items:
    """Pairs of drugs (head, tail) with what is known of them, in the order of the split.

    Labels are a type per pair, or for several types at once +1, -1 (the pair stands for the lack of the type) or
    0 (nothing said). The setting numbers SETTINGS; training items are all S0.
    """

    pairs: Array
    labels: Array
    setting: Array


@dataclass(frozen=True)
class Problem:
    """What a method may know. `inputs` are those its card declares, by name."""

    drugs: int
    types: int
    entities: int
    relations: int
    multilabel: bool
    train: Items
    valid: Items
    test_pairs: Array
    test_setting: Array
    inputs: Mapping[str, Given]
    parameters: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Answer:
    """Scores of every type for every test pair; how many epochs, and which one's model answered each setting."""

    scores: Array
    epochs: int
    chosen: Mapping[str, int]
    losses: Sequence[float] = ()
    # the validation metric of the chosen model, by setting: what hyper-parameters may be chosen by
    validation: Mapping[str, float] = field(default_factory=dict)


def run(fit_predict: Callable[[Problem], Answer]) -> None:
    """Do the job."""
    perform(_Model, fit_predict)


class _Model:
    """The one model of a job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._problem = _problem(job)
        self._report: dict[str, Any] = {}

    def problems(self) -> Iterator[Problem]:
        yield self._problem

    def keep(self, answer: Answer) -> None:
        scores = np.ascontiguousarray(answer.scores, dtype="<f4")
        if scores.shape != (len(self._problem.test_pairs), self._problem.types):
            wanted = f"{len(self._problem.test_pairs)} pairs x {self._problem.types} types"
            raise ValueError(f"scores of shape {scores.shape} for {wanted}")
        write_npy(self._job.out / "predictions.npy", scores)
        self._report = {
            "iterations": [answer.epochs],
            "chosen": dict(answer.chosen),
            "validation": {setting: _finite(value) for setting, value in answer.validation.items()},
            "losses": [_finite(loss) for loss in answer.losses],
        }

    def report(self) -> dict[str, Any]:
        return self._report


def _finite(value: float) -> float | None:
    """JSON has no number for what is none."""
    return float(value) if np.isfinite(value) else None


def _problem(job: Job) -> Problem:
    given = dict(job.inputs)
    drugs, types, entities, relations = (int(size) for size in given.pop("sizes"))
    # by their type Items are arrays; texts are no items
    arrays = {name: np.asarray(given.pop(name)) for name in _ITEMS}
    pairs = {part: arrays[f"{part}_pairs"].astype(np.int64) for part in ("train", "valid", "test")}
    train = Items(pairs["train"], arrays["train_labels"], np.zeros(len(pairs["train"]), dtype=np.int8))
    return Problem(
        drugs=drugs,
        types=types,
        entities=entities,
        relations=relations,
        multilabel=train.labels.ndim == 2,
        train=train,
        valid=Items(pairs["valid"], arrays["valid_labels"], arrays["valid_setting"]),
        test_pairs=pairs["test"],
        test_setting=arrays["test_setting"],
        inputs=given,
        parameters=job.parameters,
        seed=job.seed,
    )


_ITEMS = (
    *("train_pairs", "train_labels", "valid_pairs", "valid_labels", "valid_setting"),
    *("test_pairs", "test_setting"),
)
