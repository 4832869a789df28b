"""One training step: `fit` and the replays of golden cases take the very same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.optim import AdamW, Optimizer


def adamw(model: nn.Module, parameters: Mapping[str, Any]) -> AdamW:
    """The trainer's optimiser. Its fused form takes the same steps in one pass over memory."""
    trained = [one for one in model.parameters() if one.requires_grad]
    return AdamW(trained, lr=parameters["learning_rate"], weight_decay=parameters["weight_decay"], fused=True)


def step(loss: Tensor, optimiser: Optimizer) -> Tensor:
    """Along the gradient of the loss, which stays until the next step."""
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.detach()


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """A copy of everything the model has learned."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
