"""What makes representations of pairs alike in both domains (CDAN, Long et al. 2018): a discriminator that is
shown representations multiplied with predictions, and whose gradient reaches the representations reversed.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

STEPS_TO_FULL = 10_000


class Adversary(nn.Module):
    """Which domain does a row come from? Two fixed random matrices stand for the product of representation and
    prediction; layers carry the published code's names.
    """

    def __init__(self, features: int, predictions: int, *, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.ad_layer1, self.ad_layer2 = nn.Linear(width, hidden), nn.Linear(hidden, hidden)
        self.ad_layer3 = nn.Linear(hidden, 1)
        for layer in (self.ad_layer1, self.ad_layer2, self.ad_layer3):
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.dropout = nn.Dropout(dropout)
        for name, inward in (("of_features", features), ("of_predictions", predictions)):
            self.register_buffer(name, torch.randn(inward, width), persistent=False)
        self.forwards = 0

    @property
    def strength(self) -> float:
        """How much of the gradient is passed on, reversed: from 0 towards 1 with every forward pass."""
        return 2 / (1 + math.exp(-10 * self.forwards / STEPS_TO_FULL)) - 1

    def forward(self, features: Tensor, predictions: Tensor) -> Tensor:
        """Logits of being of the source, one per prediction; these may be several times as many as features."""
        self.forwards += 1
        strength = self.strength
        mapped = features @ self.of_features / math.sqrt(self.of_features.shape[1])
        rows = (mapped * (predictions @ self.of_predictions).view(-1, *mapped.shape)).flatten(0, 1)
        if rows.requires_grad:
            rows.register_hook(lambda gradient: -strength * gradient)
        for layer in (self.ad_layer1, self.ad_layer2):
            rows = self.dropout(functional.relu(layer(rows)))
        return self.ad_layer3(rows).view(-1)


def domain_loss(
    adversary: Adversary, features: Tensor, logits: Tensor, sources: int, *, multilabel: bool
) -> Tensor:
    """Binary cross entropy of the domain, mean over rows, of which the last so many are the source's.

    Predictions are shown without their gradient. With several types at once each type is a row of its own, with
    the chances of its absence and presence.
    """
    logits = logits.detach()
    truth = (torch.arange(len(logits), device=logits.device) >= len(logits) - sources).float()
    if not multilabel:
        found = adversary(features, functional.softmax(logits, dim=1))
        return functional.binary_cross_entropy_with_logits(found, truth)
    types, present = logits.shape[1], torch.sigmoid(logits).T.reshape(-1)
    found = adversary(features, torch.stack([1 - present, present], dim=1))
    return functional.binary_cross_entropy_with_logits(found, truth.repeat(types))
