"""Decagon as DDI-Ben has it: two graph convolutions with nothing but dropout between, and a bilinear decoder."""

from __future__ import annotations

import torch
from ddi_sdk import Array
from decoder import decode, decode_all
from dense_products import multiply
from neighbours import Neighbours
from torch import Tensor, nn


class Convolution(nn.Module):
    """Weights of one layer, under the library's names."""

    def __init__(self, inward: int, outward: int) -> None:
        super().__init__()
        self.lin = nn.Linear(inward, outward, bias=False)
        self.bias = nn.Parameter(torch.zeros(outward))

    def forward(self, sums: Tensor) -> Tensor:
        """Of what neighbours' features add up to: sums and weights may come in either order."""
        return multiply(sums, self.lin.weight.T) + self.bias


class Network(nn.Module):
    """Logits of pairs of drugs. Layers carry the published code's names."""

    def __init__(self, graph: Neighbours, features: Array, types: int, *, hidden: int, dropout: float) -> None:
        """Features are those of the graph's far nodes."""
        super().__init__()
        self.second = graph.second
        given = torch.from_numpy(features)
        self.register_buffer("sums", graph.first.times(given), persistent=False)
        self.conv1, self.conv2 = Convolution(features.shape[1], hidden), Convolution(hidden, hidden)
        D, G = (nn.init.xavier_uniform_(torch.empty(one, hidden, hidden)) for one in (types, 1))
        # [d, T, d], where the published code has [T, d, d]
        self.relation_param = nn.Parameter(D.transpose(0, 1).contiguous())
        self.interaction_model = nn.Parameter(G)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pairs: Tensor) -> Tensor:
        """Few pairs: only their drugs get a second layer."""
        drugs, places = torch.unique(pairs, return_inverse=True)
        first = self.dropout(self.conv1(self.sums))
        X = self.dropout(self.conv2(self.second.rows_times(drugs, first)))
        return decode(X, self.relation_param, self.interaction_model[0], places)

    def scores(self, pairs: Tensor) -> Tensor:
        """Many pairs."""
        X = self.conv2(self.second.times(self.conv1(self.sums)))
        return decode_all(X, self.relation_param, self.interaction_model[0], pairs)
