"""The layers of GraphDTA on what is distinct in a batch: each molecule and each protein is there once.

Layers carry the names of PyTorch Geometric, so that weights can be compared one by one. Edges have a loop at every
atom, which is how a lone atom hears anything.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from affinity_letters import RESIDUES, letter_numbers
from graph_layers import gather, shares, total
from molecule_graphs import Edges, Graph
from torch import Tensor, nn
from torch.nn import functional

SLOPE = 0.2

# torch says once that such matrices, which `gather` makes, are in beta state
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.eye(1).to_sparse_csr()


class GraphConvolution(nn.Module):
    """D^-1/2 (A + I) D^-1/2 X W + b (Kipf and Welling 2017)."""

    def __init__(self, inward: int, outward: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(outward))
        self.lin = nn.Linear(inward, outward, bias=False)
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, values: Tensor, edges: Edges) -> Tensor:
        scale = (edges.starts[1:] - edges.starts[:-1]).to(values.dtype).rsqrt()
        weights = scale.index_select(0, edges.source) * scale.index_select(0, edges.target)
        inward, outward = self.lin.in_features, self.lin.out_features
        # neighbours are added up where values are narrower
        if inward <= outward:
            return self.lin(gather(weights, values, edges)) + self.bias
        return gather(weights, self.lin(values), edges) + self.bias


class GraphAttention(nn.Module):
    """Heads of attention side by side (Velickovic et al. 2018); `edges` have a copy for each head."""

    def __init__(self, inward: int, width: int, heads: int) -> None:
        super().__init__()
        self.att_src, self.att_dst = (nn.Parameter(torch.empty(1, heads, width)) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(heads * width))
        self.lin = nn.Linear(inward, heads * width, bias=False)
        for one in (self.att_src, self.att_dst, self.lin.weight):
            nn.init.xavier_uniform_(one)

    def forward(self, values: Tensor, edges: Edges, dropout: float = 0.0) -> Tensor:
        """`dropout` is of the weights of edges."""
        _, heads, width = self.att_src.shape
        projected = self.lin(values).view(-1, heads, width).transpose(0, 1)
        source, target = ((projected @ one[0, :, :, None]).flatten() for one in (self.att_src, self.att_dst))
        strength = source.index_select(0, edges.source) + target.index_select(0, edges.target)
        weights = shares(functional.leaky_relu(strength, SLOPE), edges.starts, edges.target)
        weights = functional.dropout(weights, dropout, self.training)
        gathered = gather(weights, projected.reshape(-1, width), edges)
        return gathered.view(heads, -1, width).transpose(0, 1).reshape(-1, heads * width) + self.bias


class GraphIsomorphism(nn.Module):
    """MLP((1 + eps) x + sum of the neighbours' x) with a fixed eps (Xu et al. 2019)."""

    def __init__(self, inward: int, width: int) -> None:
        super().__init__()
        self.register_buffer("eps", torch.zeros(1))
        self.nn = nn.Sequential(nn.Linear(inward, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, values: Tensor, edges: Edges) -> Tensor:
        weights = torch.where(edges.source == edges.target, 1 + self.get_buffer("eps"), 1.0)
        summed: Tensor = self.nn(gather(weights, values, edges))
        return summed


class AtomNorm(nn.Module):
    """Batch normalisation over atoms, each counted as often as its molecule is in the batch."""

    def __init__(self, width: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_var", torch.ones(width))
        self.momentum, self.epsilon = momentum, epsilon

    def forward(self, values: Tensor, counts: Tensor) -> Tensor:
        mean, variance = self.get_buffer("running_mean"), self.get_buffer("running_var")
        if self.training:
            number = counts.sum()
            now = counts @ values / number
            spread = counts @ (values - now).square() / number
            with torch.no_grad():
                # one atom has no spread, with which torch's own layer ends
                unbiased = spread * (number / (number - 1).clamp(min=1))
                for running, one in ((mean, now), (variance, unbiased)):
                    running.mul_(1 - self.momentum).add_(one, alpha=self.momentum)
            mean, variance = now, spread
        return (values - mean) * (torch.rsqrt(variance + self.epsilon) * self.weight) + self.bias


def largest(values: Tensor, graph: Graph) -> Tensor:
    """The largest of each molecule's atoms, channel by channel; the gradient goes to all that are as large."""
    found: Tensor = _Largest.apply(values, graph)
    return found


class _Largest(torch.autograd.Function):
    """torch's own gradient of it shares out among equal atoms only what is positive."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, graph: Graph) -> Tensor:
        found = torch.segment_reduce(values, "max", offsets=graph.starts, axis=0)
        ctx.save_for_backward(values, found)
        ctx.graph = graph
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (values, found), graph = ctx.saved_tensors, ctx.graph
        equal = (values == found.index_select(0, graph.molecule)).to(values.dtype)
        shared = gradients[0] / total(equal, graph.starts)
        return equal.mul_(shared.index_select(0, graph.molecule)), None


@dataclass(frozen=True)
class Proteins:
    """The letters of proteins [proteins, length]; `order` has the positions of each by letter, and `starts` where
    those of each letter begin, and their number.
    """

    letters: Tensor
    order: Tensor
    starts: Tensor

    @classmethod
    def of(cls, letters: Tensor, alphabet: int) -> Proteins:
        """Letters are numbers below `alphabet`."""
        counts = torch.stack([(letters == one).sum(1) for one in range(alphabet)], 1)
        starts = torch.cat([counts.new_zeros(len(counts), 1), counts.cumsum(1)], 1)
        return cls(letters, torch.argsort(letters, dim=1, stable=True), starts)

    @classmethod
    def read(cls, sequences: Sequence[str], length: int, device: torch.device) -> Proteins:
        """The first residues of each."""
        letters = torch.from_numpy(letter_numbers(sequences, RESIDUES, length, "sequences"))
        return cls.of(letters.to(device), len(RESIDUES) + 1)

    def take(self, chosen: Tensor) -> Proteins:
        """These proteins, in this order."""
        return Proteins(self.letters[chosen], self.order[chosen], self.starts[chosen])

    def sums(self, rows: Tensor) -> Tensor:
        """For each protein and letter the sum of the rows of its positions [proteins, letters, row]."""
        found: Tensor = _Sums.apply(rows, self)
        return found


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, proteins: Proteins) -> Tensor:
        count, length = proteins.letters.shape
        ctx.proteins = proteins
        first = torch.arange(count, device=rows.device)[:, None] * length + proteins.starts[:, :-1]
        sums = functional.embedding_bag(proteins.order.flatten(), rows, first.flatten(), mode="sum")
        return sums.view(count, -1, rows.shape[1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        gradient, letters = gradients[0].contiguous(), ctx.proteins.letters
        count, alphabet, width = gradient.shape
        # each position of the sequence gets what its letter in each protein got
        places = letters + alphabet * torch.arange(count, device=letters.device)[:, None]
        first = torch.arange(letters.shape[1], device=letters.device) * count
        return functional.embedding_bag(places.T.flatten(), gradient.view(-1, width), first, mode="sum"), None


def convolved(proteins: Proteins, embedding: Tensor, layer: nn.Conv1d) -> Tensor:
    """The convolution of embedded sequences whose positions are its channels [proteins, filters, places].

    A channel's input is the embedding of its letter, so that for each protein the kernels of all channels with one
    letter are added up first, and applied once to that letter's embedding.
    """
    filters, length, width = layer.weight.shape
    letters, dimension = embedding.shape
    kernels = proteins.sums(layer.weight.permute(1, 2, 0).reshape(length, width * filters))
    count, places = len(kernels), dimension - width + 1
    kernels = kernels.view(count, letters * width, filters).transpose(0, 1).reshape(letters * width, -1)
    windows = embedding.unfold(1, places, 1).reshape(letters * width, places)
    found = (windows.T @ kernels).view(places, count, filters).permute(1, 2, 0)
    return found if layer.bias is None else found + layer.bias[:, None]
