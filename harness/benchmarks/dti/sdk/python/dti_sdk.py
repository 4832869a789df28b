"""What a method of benchmark `dti` sees of the harness: drug-target pairs come in, a score for each goes out.

A method's `main.py` ends with `run(fit_predict)`. Values of test pairs are not among what there is to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from permafrost_sdk import Array, Given, Job, perform, write_npy

__all__ = ["Answer", "Array", "Pairs", "Problem", "held_back", "run", "with_negatives"]


@dataclass(frozen=True)
class Pairs:
    """Drugs and targets, and the value of each pair: 1 binds, 0 does not, or an affinity."""

    pairs: Array
    values: Array


@dataclass(frozen=True)
class Problem:
    """What a method may know. `inputs` are those its card declares, by name.

    Nodes of the network (`edges`: relation, head, tail) are numbered drugs first, then targets, then all others.
    """

    drugs: int
    targets: int
    nodes: int
    affinity: bool
    train: Pairs
    test_pairs: Array
    inputs: Mapping[str, Given]
    parameters: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Answer:
    """A score for every test pair, higher for what binds, and what there is to say of the fit."""

    scores: Array
    epochs: int = 0
    losses: Sequence[float] = ()


def run(fit_predict: Callable[[Problem], Answer]) -> None:
    """Do the job."""
    perform(_Model, fit_predict)


def with_negatives(problem: Problem, ratio: float, generator: np.random.Generator) -> Pairs:
    """The training bindings, then `ratio` times as many pairs that training does not have, of value 0.

    They join drugs and targets of training. Affinities, and training pairs with zeros, come back as they are.
    """
    train = problem.train
    if problem.affinity or (train.values != 1).any():
        return train
    known = np.unique(train.pairs[:, 0] * problem.targets + train.pairs[:, 1])
    drugs, targets = (np.unique(column) for column in train.pairs.T)
    count = min(round(ratio * len(train.pairs)), len(drugs) * len(targets) - len(known))
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < count:
        drawn = generator.choice(drugs, count) * problem.targets + generator.choice(targets, count)
        # unique by first appearance: what is drawn first counts
        keys = np.concatenate([keys, drawn[~np.isin(drawn, known)]])
        keys = keys[np.sort(np.unique(keys, return_index=True)[1])][:count]
    negatives = np.column_stack(np.divmod(keys, problem.targets))
    values = np.concatenate([train.values, np.zeros(count)])
    return Pairs(np.concatenate([train.pairs, negatives]), values)


def held_back(pairs: Pairs, share: float, generator: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Pairs to train on and a share of them to choose a model by, each value's share where they are bindings."""
    chosen = np.zeros(len(pairs.pairs), dtype=bool)
    values, kinds = np.unique(pairs.values, return_inverse=True)
    strata = (
        [np.flatnonzero(kinds == kind) for kind in range(len(values))]
        if len(values) <= 2
        else [np.arange(len(kinds))]
    )
    for rows in strata:
        chosen[generator.permutation(rows)[: round(share * len(rows))]] = True
    return tuple(Pairs(pairs.pairs[rows], pairs.values[rows]) for rows in (~chosen, chosen))  # type: ignore[return-value]


class _Model:
    """The one model of a job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._problem = _problem(job)
        self._report: dict[str, Any] = {}

    def problems(self) -> Iterator[Problem]:
        yield self._problem

    def keep(self, answer: Answer) -> None:
        scores = np.ascontiguousarray(answer.scores, dtype="<f8")
        if scores.shape != (len(self._problem.test_pairs),):
            raise ValueError(f"scores of shape {scores.shape} for {len(self._problem.test_pairs)} pairs")
        write_npy(self._job.out / "scores.npy", scores)
        losses = [float(loss) if np.isfinite(loss) else None for loss in answer.losses]
        self._report = {"iterations": [answer.epochs], "losses": losses}

    def report(self) -> dict[str, Any]:
        return self._report


def _problem(job: Job) -> Problem:
    inputs = dict(job.inputs)
    drugs, targets, nodes, affinity = (int(size) for size in inputs.pop("sizes"))
    pairs = {part: np.asarray(inputs.pop(f"{part}_pairs")).astype(np.int64) for part in ("train", "test")}
    return Problem(
        drugs=drugs,
        targets=targets,
        nodes=nodes,
        affinity=bool(affinity),
        train=Pairs(pairs["train"], np.asarray(inputs.pop("train_values"))),
        test_pairs=pairs["test"],
        inputs=inputs,
        parameters=job.parameters,
        seed=job.seed,
    )
