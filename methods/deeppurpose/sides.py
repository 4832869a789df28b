"""The package's network, asked by numbers of drugs and targets: each is encoded once per step, not per pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from package import device
from shortcuts import shortened
from tables import Table, table_of
from torch import Tensor, nn

# rows of like length that are encoded together
BLOCK = 32


class Side(nn.Module):
    """An encoder of the package, and the table of what it reads."""

    def __init__(self, encoder: nn.Module, table: Table) -> None:
        super().__init__()
        self.encoder = encoder
        self.table = table
        # with dropout inside, each pair of a training step has an encoding of its own
        self._draws = any(isinstance(layer, nn.Dropout) and layer.p for layer in encoder.modules())

    def forward(self, numbers: Tensor) -> Tensor:
        """The encodings of these rows of the table, in this order."""
        if self.training and self._draws:
            return self._encoded(numbers)
        rows, places = torch.unique(numbers, return_inverse=True)
        return self._encoded(rows)[places]

    def _encoded(self, rows: Tensor) -> Tensor:
        lengths = self.table.lengths[rows]
        if not lengths.any():
            return cast(Tensor, self.encoder(self.table.batch(rows)))
        order = torch.argsort(lengths, stable=True)
        blocks = [self.encoder(self.table.batch(block)) for block in rows[order].split(BLOCK)]
        return torch.cat(blocks)[torch.argsort(order)]


def with_tables(
    network: nn.Module, encodings: tuple[str, str], texts: tuple[Sequence[str], Sequence[str]]
) -> None:
    """Let the network take numbers of drugs and targets, by their places among these texts."""
    network.to(device)
    for name, kind, own in zip(("model_drug", "model_protein"), encodings, texts, strict=True):
        encoder = getattr(network, name)
        table = table_of(own, kind, encoder, drugs=name == "model_drug", device=device)
        setattr(network, name, Side(shortened(encoder, kind), table))
