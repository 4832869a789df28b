"""The reward that TextDDI's optional selector of sentences is trained with; the selector itself is not here."""

from __future__ import annotations

import torch
from torch import Tensor

RIGHT, WRONG = 2.0, 1.8


def gaps(logits: Tensor, labels: Tensor) -> Tensor:
    """By how much the right type's probability exceeds the largest other one."""
    chances = torch.softmax(logits, dim=1)
    right = chances.gather(1, labels[:, None])
    others = chances.scatter(1, labels[:, None], -torch.inf)
    return (right[:, 0] - others.amax(dim=1)).detach()


def step_rewards(logits: Tensor, labels: Tensor, before: Tensor) -> Tensor:
    """What one more sentence gained since `before`, with a bonus, larger where the prediction is right now."""
    right = logits.argmax(dim=1) == labels
    return (gaps(logits, labels) - before) * torch.where(right, RIGHT, WRONG)
