"""Training on pairs of a drug and a target, each of which is encoded once per batch, whatever its pairs.

The loss is the mean squared error, also of 0 and 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from affinity_steps import adam, step
from dti_sdk import Array, Pairs, Problem, held_back, with_negatives
from torch import Tensor, nn
from torch.nn import functional

# as many drugs or targets, and as many pairs, as are predicted at once
NODES, PAIRS = 256, 4096


class Model(nn.Module, ABC):
    """A network with the drugs and targets that it knows by their numbers."""

    @abstractmethod
    def drugs(self, drugs: Tensor, counts: Tensor) -> Tensor:
        """A row per drug, each of which is in so many pairs of the batch."""

    @abstractmethod
    def targets(self, targets: Tensor) -> Tensor:
        """A row per target."""

    @abstractmethod
    def pairs(self, drugs: Tensor, targets: Tensor) -> Tensor:
        """A number for each row of a drug and a target."""

    def forward(self, pairs: Tensor) -> Tensor:
        drugs, of_drugs, counts = torch.unique(pairs[:, 0], return_inverse=True, return_counts=True)
        targets, of_targets = torch.unique(pairs[:, 1], return_inverse=True)
        rows, columns = self.drugs(drugs, counts), self.targets(targets)
        return self.pairs(rows.index_select(0, of_drugs), columns.index_select(0, of_targets))


@dataclass(frozen=True)
class Examples:
    """Pairs [n, 2] and the values that are to be predicted."""

    pairs: Tensor
    values: Tensor

    @classmethod
    def of(cls, pairs: Pairs, where: torch.device) -> Examples:
        """In the order in which they are given."""
        values = torch.from_numpy(np.asarray(pairs.values, dtype=np.float32))
        return cls(torch.from_numpy(np.asarray(pairs.pairs, dtype=np.int64)).to(where), values.to(where))

    def loss(self, model: Model, rows: Tensor) -> Tensor:
        """Of these rows."""
        return functional.mse_loss(model(self.pairs[rows]), self.values[rows])


def device() -> torch.device:
    """The accelerator where the image and the machine have one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def examples_of(problem: Problem) -> tuple[Pairs, Pairs]:
    """What is learned from, and what is held back to choose by. Known bindings get drawn negatives beside them."""
    generator = np.random.default_rng(problem.seed)
    parameters = problem.parameters
    return held_back(
        with_negatives(problem, parameters["negatives"], generator), parameters["validation"], generator
    )


def train_epochs(model: Model, train: Pairs, valid: Pairs | None, problem: Problem) -> list[float]:
    """The mean loss of each epoch; the model is left as it was after the one with the lowest loss on `valid`,
    where there is any, else after the last.
    """
    parameters, where = problem.parameters, next(model.parameters()).device
    examples = Examples.of(train, where)
    optimiser = adam(model, parameters["learning_rate"], parameters["epsilon"])
    losses: list[float] = []
    lowest, best = float("inf"), None
    for _ in range(int(parameters["epochs"])):
        model.train()
        rows = torch.randperm(len(examples.values)).to(where).split(int(parameters["batch_size"]))
        losses.append(float(torch.stack([step(examples.loss(model, some), optimiser) for some in rows]).mean()))
        if valid is None or not len(valid.values):
            continue
        error = float(np.square(predicted(model, valid.pairs) - valid.values).mean())
        if error < lowest:
            lowest = error
            best = {name: value.detach().clone() for name, value in model.state_dict().items()}
    if best is not None:
        model.load_state_dict(best)
    return losses


@torch.no_grad()
def predicted(model: Model, pairs: Array) -> Array:
    """A number per pair, in evaluation mode; what a step needs does not grow with their number."""
    model.eval()
    where = next(model.parameters()).device
    asked = torch.from_numpy(np.asarray(pairs, dtype=np.int64)).to(where)
    drugs, of_drugs = torch.unique(asked[:, 0], return_inverse=True)
    targets, of_targets = torch.unique(asked[:, 1], return_inverse=True)
    rows = torch.cat([model.drugs(some, torch.ones_like(some)) for some in drugs.split(NODES)])
    columns = torch.cat([model.targets(some) for some in targets.split(NODES)])
    answers = [
        model.pairs(rows[some], columns[others])
        for some, others in zip(of_drugs.split(PAIRS), of_targets.split(PAIRS), strict=True)
    ]
    scores: Array = torch.cat(answers).double().cpu().numpy()
    return scores
