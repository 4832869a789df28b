"""MRCGNN (Xiong et al. 2023) as DDI-Ben runs it: two relational convolutions over three views of the training
graph.

The layers carry the original's names, so that weights can be compared one by one. Of the two corrupted views
nothing is read but their agreement with the summary of the true one, a number per drug: their second layer is a
product with the vector that the agreement is a product with, and never has 32 columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from sparse_products import Fixed
from torch import Tensor, nn
from torch.nn import functional
from views import Views

# of both layers, and of the two between drugs and types
WIDTHS, HIDDEN = (64, 32), (256, 128)


@dataclass(frozen=True)
class Encoded:
    """What both layers say of the drugs, and logits (drugs x true, corrupted) that tell both corruptions."""

    first: Tensor
    second: Tensor
    permuted: Tensor
    shuffled: Tensor


class Relational(nn.Module):
    """The weights of a relational convolution: a matrix per type, one for the drug itself, and a bias."""

    def __init__(self, types: int, inward: int, outward: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(types, inward, outward))
        self.root = nn.Parameter(torch.empty(inward, outward))
        self.bias = nn.Parameter(torch.zeros(outward))
        bound = (6 / (inward + outward)) ** 0.5
        for weight in (self.weight, self.root):
            nn.init.uniform_(weight, -bound, bound)


class Discriminator(nn.Module):
    """How well a drug's vector agrees with a summary: a bilinear form."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.f_k = nn.Bilinear(width, width, 1)
        nn.init.xavier_uniform_(self.f_k.weight)
        nn.init.zeros_(self.f_k.bias)


class Network(nn.Module):
    """Logits of every type for pairs of drugs."""

    def __init__(
        self,
        features: int,
        types: int,
        *,
        dropout: float,
        head_dropout: float,
        widths: tuple[int, int] = WIDTHS,
        hidden: tuple[int, int] = HIDDEN,
    ) -> None:
        super().__init__()
        self.attt = nn.Parameter(torch.full((2,), 0.5))
        self.encoder_o1 = Relational(types, features, widths[0])
        self.encoder_o2 = Relational(types, *widths)
        self.disc = Discriminator(widths[1])
        self.dropout = nn.Dropout(dropout)
        self.mlp = nn.Sequential(
            nn.Linear(2 * (sum(widths) + features), hidden[0]),
            nn.ELU(),
            nn.Dropout(head_dropout),
            nn.Linear(*hidden),
            nn.ELU(),
            nn.Dropout(head_dropout),
            nn.Linear(hidden[1], types),
        )

    def encode(self, views: Views) -> Encoded:
        """All three views at once."""
        one, two = self.encoder_o1, self.encoder_o2
        arrived = views.means.times(views.products.times(one.weight.flatten(0, 1)))
        own = views.sparse.times(one.root) + one.bias
        own = torch.cat([own, own.index_select(0, views.permutation), own])
        first, permuted, shuffled = self.dropout(functional.relu(arrived + own)).chunk(3)
        second = self._second(first, views)
        direction = self.disc.f_k.weight[0] @ torch.sigmoid(second.mean(dim=0))
        along = two.weight @ direction, two.root @ direction, two.bias @ direction
        agreements = (
            second @ direction,
            _agreement(permuted, along, views.numbers),
            _agreement(shuffled, along, views.numbers_shuffled),
        )
        true, *corrupted = (one + self.disc.f_k.bias for one in agreements)
        return Encoded(first, second, *(torch.stack([true, other], dim=1) for other in corrupted))

    def _second(self, first: Tensor, views: Views) -> Tensor:
        layer = self.encoder_o2
        by_type = first.index_select(0, views.senders).split(views.sent)
        sent = torch.cat([rows @ weight for rows, weight in zip(by_type, layer.weight.unbind(), strict=True)])
        return views.gathered.times(sent) + torch.addmm(layer.bias, first, layer.root)

    def forward(self, encoded: Encoded, features: Tensor, pairs: Tensor) -> Tensor:
        """Logits from what was encoded and the features themselves, head before tail."""
        drugs, which = torch.unique(pairs, return_inverse=True)
        layers = zip(self.attt, (encoded.first, encoded.second), strict=True)
        learned = (weight * one.index_select(0, drugs) for weight, one in layers)
        known = torch.cat([*learned, features[drugs]], dim=1)
        return cast(Tensor, self.mlp(known.index_select(0, which.flatten()).view(len(pairs), -1)))


def _agreement(first: Tensor, along: tuple[Tensor, Tensor, Tensor], numbers: Fixed) -> Tensor:
    """The second layer's product with a direction, from the layer's weights times that direction."""
    weights, root, bias = along
    sent = (first @ weights.T).reshape(-1, 1)
    return numbers.times(sent)[:, 0] + first @ root + bias
