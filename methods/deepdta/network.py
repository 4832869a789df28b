"""DeepDTA: a drug's and a protein's letters, each read by three convolutions, predict how strongly they bind.

The first convolution is a sum of rows, one per letter and place in the window. The last has a gradient at the
places of its largest values alone. Windows that see nothing but the filling behind a text are all the same: one of
them is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# texts of like lengths that are read as one array
TOGETHER = 32


@dataclass(frozen=True)
class Sizes:
    """Letters of drugs and of proteins with the filling, and widths of layers."""

    letters: tuple[int, int]
    embedding: int = 128
    filters: tuple[int, ...] = (32, 64, 96)
    head: tuple[int, ...] = (1024, 1024, 512)


class Reader(nn.Module):
    """Letters [n, length] become rows: what each filter of the last convolution finds most of anywhere."""

    def __init__(self, letters: int, sizes: Sizes, kernel: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, sizes.embedding)
        nn.init.uniform_(self.embedding.weight, -0.05, 0.05)
        widths = (sizes.embedding, *sizes.filters)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(inward, outward, kernel) for inward, outward in zip(widths, sizes.filters, strict=False)
        )
        for layer in self.convolutions:
            _begin(layer)

    def forward(self, letters: Tensor) -> Tensor:
        sizes = (letters > 0).flip(1).cummax(1).values.sum(1)
        order = torch.argsort(sizes, stable=True)
        # letters that one of the last convolution's values depends on
        seen = 1 + sum(layer.kernel_size[0] - 1 for layer in self.convolutions)
        rows = [self.read(letters[some, : int(sizes[some[-1]]) + seen]) for some in order.split(TOGETHER)]
        return torch.cat(rows).index_select(0, torch.argsort(order))

    def read(self, letters: Tensor) -> Tensor:
        """All windows of the letters."""
        first, *middle, last = self.convolutions
        values = functional.relu(_of_letters(letters, self.embedding.weight, first))
        for layer in middle:
            values = functional.relu(layer(values))
        largest: Tensor = _Largest.apply(values, last.weight)
        return functional.relu(largest + last.bias)


class Network(nn.Module):
    """Two readers, and layers that see a drug's row beside a protein's."""

    def __init__(self, sizes: Sizes, kernels: tuple[int, int], dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.drug, self.protein = (
            Reader(letters, sizes, kernel) for letters, kernel in zip(sizes.letters, kernels, strict=True)
        )
        widths = (2 * sizes.filters[-1], *sizes.head)
        self.head = nn.ModuleList(
            nn.Linear(inward, outward) for inward, outward in zip(widths, sizes.head, strict=False)
        )
        for layer in self.head:
            _begin(layer)
        self.out = nn.Linear(sizes.head[-1], 1)
        nn.init.normal_(self.out.weight, std=0.05)
        nn.init.zeros_(self.out.bias)

    def pairs(self, drugs: Tensor, proteins: Tensor) -> Tensor:
        """A number for each row of a drug and a protein; nothing is dropped before the last layer."""
        values = torch.cat([drugs, proteins], dim=1)
        for place, layer in enumerate(self.head):
            values = functional.relu(layer(values))
            if place < len(self.head) - 1:
                values = functional.dropout(values, self.dropout, self.training)
        answer: Tensor = self.out(values)
        return answer[:, 0]


def _begin(layer: nn.Module) -> None:
    """As Keras begins."""
    assert isinstance(layer, (nn.Conv1d, nn.Linear)) and layer.bias is not None
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)


def _of_letters(letters: Tensor, embedding: Tensor, layer: nn.Conv1d) -> Tensor:
    """The convolution of embedded letters [n, filters, places]."""
    filters, _, width = layer.weight.shape
    rows = (embedding @ layer.weight.permute(1, 2, 0).flatten(1)).view(len(embedding) * width, filters)
    found: Tensor = _Windows.apply(rows, letters, width)
    return (found + layer.bias).transpose(1, 2)


class _Windows(torch.autograd.Function):
    """For each window of letters the sum of their rows, of which each letter has one per place in the window."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, letters: Tensor, width: int) -> Tensor:
        places = letters.unfold(1, width, 1) * width + torch.arange(width, device=letters.device)
        ctx.save_for_backward(letters)
        ctx.shape, ctx.width = rows.shape, width
        return functional.embedding_bag(places.reshape(-1, width), rows, mode="sum").view(*places.shape[:2], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (letters,), gradient = ctx.saved_tensors, gradients[0]
        gradient, count = gradient.flatten(0, 1), gradient.shape[1]
        found = gradient.new_zeros(ctx.shape[0] // ctx.width, ctx.width, ctx.shape[1])
        for place in range(ctx.width):
            found[:, place].index_add_(0, letters[:, place : place + count].flatten(), gradient)
        return found.flatten(0, 1), None, None


class _Largest(torch.autograd.Function):
    """The largest value of each filter of a convolution [n, filters]."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor) -> Tensor:
        found, places = functional.conv1d(values, weight).max(dim=2)
        ctx.save_for_backward(values, weight, places)
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        (values, weight, places), gradient = ctx.saved_tensors, gradients[0]
        count, channels, length = values.shape
        filters, _, width = weight.shape
        # where the windows of the largest values lie, in a list of all letters of all texts
        firsts = places + length * torch.arange(count, device=places.device)[:, None]
        windows = (firsts[:, :, None] + torch.arange(width, device=places.device)).flatten()
        rows = values.transpose(1, 2).reshape(-1, channels)
        seen = rows.index_select(0, windows).view(count, filters, width * channels)
        for_weight = torch.einsum("nf,nfw->fw", gradient, seen).view(filters, width, channels).transpose(1, 2)
        sent = gradient[:, :, None, None] * weight.transpose(1, 2)
        for_values = torch.zeros_like(rows).index_add_(0, windows, sent.reshape(-1, channels))
        return for_values.view(count, length, channels).transpose(1, 2), for_weight
