"""AdamW as transformers 4 had it: epsilon joins the root of v before its bias is corrected, decay comes last.

torch's own adds it after the correction, which is the same with an epsilon that is larger in the first steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.optim import Adam

_BETAS, _EPSILON = (0.9, 0.999), 1e-6


class EarlyEpsilonAdamW(Adam):
    """Adam whose step divides by sqrt(v) + epsilon, times the corrected rate."""

    def __init__(
        self,
        parameters: Iterable[Any],
        rate: float,
        *,
        betas: tuple[float, float] = _BETAS,
        epsilon: float = _EPSILON,
    ) -> None:
        self._epsilon, self._steps = epsilon, 0
        super().__init__(parameters, lr=rate, betas=betas, eps=epsilon, fused=True)
        for group in self.param_groups:
            group["decay"], group["weight_decay"] = group["weight_decay"], 0.0

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One step along the gradients that there are."""
        self._steps += 1
        for group in self.param_groups:
            group["eps"] = self._epsilon / (1 - group["betas"][1] ** self._steps) ** 0.5
        super().step(closure)
        for group in self.param_groups:
            if group["decay"]:
                for weight in group["params"]:
                    if weight.grad is not None:
                        weight.mul_(1 - group["lr"] * group["decay"])

    def set_rate(self, rate: float) -> None:
        """The rate of the next steps."""
        for group in self.param_groups:
            group["lr"] = rate


def optimiser_of(
    model: nn.Module, rate: float, decay: float, betas: tuple[float, float] = _BETAS
) -> EarlyEpsilonAdamW:
    """Of all that learns; biases and what is called LayerNorm.weight do not decay."""
    trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
    spared = {name for name in trained if name.endswith("bias") or "LayerNorm.weight" in name}
    groups = [
        {"params": [trained[name] for name in trained if (name in spared) is kept], "weight_decay": own}
        for kept, own in ((False, decay), (True, 0.0))
    ]
    return EarlyEpsilonAdamW([group for group in groups if group["params"]], rate, betas=betas)


def rate_at(step: int, steps: int, warm_up: float) -> float:
    """The share of the full rate at a step, counted from 0: linearly up over a share of steps, then down to 0."""
    first = int(steps * warm_up)
    if step < first:
        return step / max(first, 1)
    return max(0.0, (steps - step) / max(steps - first, 1))
