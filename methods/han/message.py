"""Messages along the edges of a graph: shares per edge and head, and what every node gathers by them.

Sums over edges are products with one sparse matrix that holds all heads, block after block; its gradients are two
more such products, so that nothing of size edges x width is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from inputs import Graph
from torch import Tensor


@dataclass(frozen=True)
class Edges:
    """A graph whose opposite edges both exist: its edges by source, and the same pattern for all heads at once."""

    source: Tensor
    target: Tensor
    # the place, among edges by source, of every edge by target
    by_target: Tensor
    starts: Tensor
    columns: Tensor
    size: int

    @classmethod
    def of(cls, graph: Graph, heads: int) -> Edges:
        """The pattern of a row per node and head. Opposites make rows by target and by source look alike."""
        source, target = (torch.from_numpy(one.copy()) for one in (graph.source, graph.target))
        counts = torch.bincount(source, minlength=graph.nodes).repeat(heads)
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
        columns = target + graph.nodes * torch.arange(heads)[:, None]
        by_target = torch.argsort(target, stable=True)
        size = graph.nodes * heads
        return cls(source, target, by_target, starts.int(), columns.reshape(-1).int(), size)

    def matrix(self, values: Tensor) -> Tensor:
        """Values per head and edge (by row) as a sparse matrix."""
        shape = (self.size, self.size)
        return torch.sparse_csr_tensor(
            self.starts, self.columns, values.reshape(-1), shape, check_invariants=False
        )


def softmax(strength: Tensor, edges: Edges) -> Tensor:
    """Of values edges x heads, over the edges that end in the same node."""
    nodes = (edges.size // strength.shape[1], strength.shape[1])
    where = edges.target[:, None].expand_as(strength)
    largest = strength.new_full(nodes, -torch.inf).scatter_reduce(0, where, strength.detach(), "amax")
    exponential = (strength - largest.index_select(0, edges.target)).exp()
    total = strength.new_zeros(nodes).index_add(0, edges.target, exponential)
    return exponential / total.index_select(0, edges.target)


def gather(shares: Tensor, features: Tensor, edges: Edges) -> Tensor:
    """For every node and head, the features (nodes x heads x width) of its sources, summed by shares."""
    return cast(Tensor, _Gather.apply(shares, features, edges))  # type: ignore[no-untyped-call]


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, shares: Tensor, features: Tensor, edges: Edges) -> Tensor:
        context.edges = edges
        context.save_for_backward(shares, features)
        out = edges.matrix(shares.index_select(0, edges.by_target).T) @ _stack(features)
        return _unstack(out, features.shape)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[override]
        edges: Edges = context.edges
        shares, features = context.saved_tensors
        above = _stack(gradient)
        for_features = _unstack(edges.matrix(shares.T) @ above, features.shape)
        pattern = edges.matrix(shares.new_zeros(shares.numel()))
        for_shares = torch.sparse.sampled_addmm(pattern, _stack(features), above.T, beta=0.0).values()
        return for_shares.view(shares.shape[1], -1).T, for_features, None


def _stack(features: Tensor) -> Tensor:
    """Nodes x heads x width as (heads nodes) x width."""
    return features.transpose(0, 1).reshape(-1, features.shape[-1])


def _unstack(rows: Tensor, shape: torch.Size) -> Tensor:
    nodes, heads, width = shape
    return rows.view(heads, nodes, width).transpose(0, 1)
