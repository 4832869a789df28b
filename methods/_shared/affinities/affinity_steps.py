"""One training step: `fit` and the replays of golden cases take the very same."""

from __future__ import annotations

from torch import Tensor, nn
from torch.optim import Adam, Optimizer


def adam(model: nn.Module, learning_rate: float, epsilon: float) -> Adam:
    """The optimiser of both methods. Its fused form takes the same steps in one pass over memory."""
    return Adam(model.parameters(), lr=learning_rate, eps=epsilon, fused=True)


def step(loss: Tensor, optimiser: Optimizer) -> Tensor:
    """Along the gradient of the loss, which stays until the next step."""
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.detach()
