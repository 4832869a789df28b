"""Encoders of the package that compute only what their answer rests on: the same numbers, but for rounding."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn


def shortened(encoder: nn.Module, kind: str) -> nn.Module:
    """The encoder, with its own layers and parameters."""
    if kind == "CNN":
        return Peaks(encoder)
    if kind == "Transformer":
        layers = encoder.encoder.layer
        layers[-1] = FirstToken(layers[-1])
    return encoder


class Peaks(nn.Module):
    """A CNN whose last layer is differentiated at each channel's largest place alone: elsewhere it is 0."""

    def __init__(self, cnn: nn.Module) -> None:
        super().__init__()
        self.cnn = cnn

    def forward(self, columns: Tensor) -> Tensor:
        """As the package's, with a maximum over places at the end."""
        if not torch.is_grad_enabled():
            return cast(Tensor, self.cnn(columns))
        *first, last = self.cnn.conv
        for layer in first:
            columns = layer(columns).relu()
        return cast(Tensor, self.cnn.fc1(_largest(columns, last).relu().float()))


def _largest(columns: Tensor, layer: nn.Conv1d) -> Tensor:
    """The largest value of each channel of a convolution."""
    with torch.no_grad():
        places = layer(columns).argmax(dim=2)
    seen = places[:, None, :, None] + torch.arange(layer.kernel_size[0], device=columns.device)
    windows = columns.gather(2, seen.expand(-1, columns.shape[1], -1, -1).flatten(2)).view(
        *columns.shape[:2], *seen.shape[2:]
    )
    return torch.einsum("bick,cik->bc", windows, layer.weight) + layer.bias


class FirstToken(nn.Module):
    """A Transformer's last layer for the first token alone, which is all that the package reads of it."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """As the package's layer, of one token."""
        first, attention = hidden[:, :1], self.layer.attention
        own = attention.self
        query, key, value = (
            own.transpose_for_scores(part(tokens))
            for part, tokens in ((own.query, first), (own.key, hidden), (own.value, hidden))
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(own.attention_head_size) + mask
        context = (own.dropout(scores.softmax(dim=-1)) @ value).permute(0, 2, 1, 3).flatten(2)
        attended = attention.output(context, first)
        return cast(Tensor, self.layer.output(self.layer.intermediate(attended), attended))
