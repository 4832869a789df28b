"""How NeoDTI is trained: full batches, Adam as TensorFlow has it, and the answer of the best validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from dti_sdk import Array, Pairs
from model import Model
from networks import BINDINGS, Network
from products import Cells, Heard, Matrix
from torch import Tensor

# added to the root of the second moment before that is corrected for its start, where torch adds it afterwards
EPSILON = 1e-8


@dataclass(frozen=True)
class Given:
    """Networks on a device, what each kind hears, and the pairs of training with their values."""

    networks: Mapping[str, Matrix]
    heard: Mapping[tuple[str, str], Heard]
    cells: Cells
    values: Tensor

    @classmethod
    def of(
        cls,
        networks: Mapping[str, Network],
        heard: Mapping[tuple[str, str], Network],
        train: Pairs,
        device: torch.device,
    ) -> Given:
        """The same from where it was read."""
        return cls(
            {name: Matrix.of(one, device) for name, one in networks.items()},
            {who: Heard.of(one, device) for who, one in heard.items()},
            Cells.of(train.pairs, networks[BINDINGS].shape, device),
            torch.tensor(train.values, dtype=torch.float32, device=device),
        )


class Trainer:
    """Takes steps along the gradient, cut to a norm; remembers the gradient's moments."""

    def __init__(self, model: Model, given: Given, *, learning_rate: float, clip: float) -> None:
        self.model, self.given, self.clip = model, given, clip
        self._optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
        self._steps = 0

    def forward(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """The vectors of all nodes, and the terms of the loss."""
        z = self.model(self.given.heard)
        return z, self.model.losses(z, self.given.networks, self.given.cells, self.given.values)

    def gradients(self, losses: Mapping[str, Tensor]) -> list[Tensor]:
        """Of the sum of all terms, not yet cut: in the order of the model's parameters."""
        self._optimiser.zero_grad()
        torch.stack([one.double() for one in losses.values()]).sum().backward()  # type: ignore[no-untyped-call]
        return [one.grad for one in self.model.parameters() if one.grad is not None]

    def update(self, losses: Mapping[str, Tensor]) -> None:
        """Take a step."""
        gradients = self.gradients(losses)
        torch._foreach_mul_(gradients, self.clip / max(float(global_norm(gradients)), self.clip))
        self._steps += 1
        for group in self._optimiser.param_groups:
            group["eps"] = EPSILON / (1 - group["betas"][1] ** self._steps) ** 0.5
        self._optimiser.step()


def global_norm(gradients: Sequence[Tensor]) -> Tensor:
    """Of all of them as one vector."""
    return torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))


def quality(values: Array, scores: Array, *, affinity: bool) -> float:
    """What a model is chosen by: average precision, or of affinities the squared error, turned round."""
    return -float(np.square(scores - values).mean()) if affinity else average_precision(values, scores)


def average_precision(values: Array, scores: Array) -> float:
    """Mean over positives of the share of positives among what is scored as high; 0 without any."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(values[order] > 0)
    if not len(hits) or not hits[-1]:
        return 0.0
    # equal scores count together
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    gained = np.diff(hits[last], prepend=0)
    return float((gained * hits[last] / (last + 1)).sum() / hits[-1])
