"""Training as the package does it: its loss, optimiser, order of random numbers, and choice of an epoch."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from dti_sdk import Array, Pairs
from package import device
from sklearn.metrics import mean_squared_error, roc_auc_score
from torch import Tensor, nn
from torch.optim import Adam, Optimizer
from torch.utils.data import DataLoader


@dataclass(frozen=True)
class Task:
    """Whether pairs have labels or affinities, and what follows from it."""

    binary: bool

    @classmethod
    def of(cls, values: Array) -> Task:
        """Exactly two values are labels, as in the package."""
        kinds = np.unique(values)
        if len(kinds) == 2 and set(kinds) != {0, 1}:
            raise ValueError(f"training pairs have the values {kinds[0]} and {kinds[1]} alone: labels are 0 and 1")
        return cls(len(kinds) == 2)

    def answer(self, scores: Tensor) -> Tensor:
        """Probabilities of labels; affinities are scores as they are."""
        return scores.sigmoid().squeeze(1) if self.binary else scores.squeeze(1)

    def loss(self, scores: Tensor, values: Tensor) -> Tensor:
        """Cross entropy of labels, squared error of affinities."""
        measure = nn.functional.binary_cross_entropy if self.binary else nn.functional.mse_loss
        return measure(self.answer(scores), values)

    def merit(self, values: Array, answers: Array) -> float:
        """Of an epoch, by the validation pairs."""
        if self.binary:
            return float(roc_auc_score(values, answers))
        return -float(mean_squared_error(values, answers))

    @property
    def least(self) -> float:
        """What an epoch must exceed, or the package answers with the weights it started from."""
        return 0.0 if self.binary else -10_000.0


def adam(network: nn.Module, learning_rate: float) -> Optimizer:
    """The package's optimiser; its fused form takes the same steps in one pass over memory."""
    return Adam(network.parameters(), lr=learning_rate, fused=True)


def step(loss: Tensor, optimiser: Optimizer) -> float:
    """The loss before the step."""
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return float(loss.detach())


def fit(network: nn.Module, train: Pairs, valid: Pairs, parameters: Mapping[str, Any]) -> list[float]:
    """Leave the network at its best epoch; returns the mean loss of each.

    Where validation says nothing (no pairs, or labels of one kind), the last epoch counts, as in the package when
    it has no validation pairs.
    """
    task, losses = Task.of(train.values), []
    pairs, values = _tensors(train)
    optimiser = adam(network, parameters["learning_rate"])
    size = parameters["batch_size"]
    judged = len(valid.values) > 0 and (not task.binary or len(np.unique(valid.values)) == 2)
    best, bar = copy.deepcopy(network.state_dict()), task.least
    network.train()
    for _ in range(parameters["epochs"]):
        steps = []
        for rows in _batches(len(values), size):
            drugs, targets = pairs[rows].T
            steps.append(step(task.loss(network(drugs, targets), values[rows]), optimiser))
        losses.append(float(np.mean(steps)))
        if judged:
            # drawn like the package's, whose validation pairs come shuffled too
            rows = torch.cat(list(_batches(len(valid.values), size)))
            merit = task.merit(valid.values[rows], answers(network, task, valid.pairs[rows], size))
            if merit > bar:
                best, bar = copy.deepcopy(network.state_dict()), merit
    if judged:
        network.load_state_dict(best)
    return losses


def answers(network: nn.Module, task: Task, pairs: Array, size: int) -> Array:
    """Probabilities or affinities of pairs."""
    network.eval()
    with torch.no_grad():
        parts = [
            task.answer(network(*torch.from_numpy(part).to(device).T)).cpu().numpy()
            for part in np.split(pairs, range(size, len(pairs), size))
            if len(part)
        ]
    network.train()
    return np.concatenate([np.empty(0), *parts])


def _tensors(part: Pairs) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(part.pairs).to(device), torch.from_numpy(part.values).float().to(device)


def _batches(count: int, size: int) -> DataLoader[Any]:
    return DataLoader(range(count), batch_size=size, shuffle=True)  # type: ignore[arg-type]
