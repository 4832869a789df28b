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
    def of(cls, graph: Graph, heads: int, device: torch.device) -> Edges:
        """The pattern of a row per node and head. Opposites make rows by target and by source look alike."""
        source, target = (torch.from_numpy(one.copy()) for one in (graph.source, graph.target))
        counts = torch.bincount(source, minlength=graph.nodes).repeat(heads)
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
        columns = target + graph.nodes * torch.arange(heads)[:, None]
        by_target = torch.argsort(target, stable=True)
        pattern = source, target, by_target, starts.int(), columns.reshape(-1).int()
        return cls(*(one.to(device) for one in pattern), graph.nodes * heads)

    def matrix(self, values: Tensor) -> Tensor:
        """Values per head and edge (by row) as a sparse matrix."""
        shape = (self.size, self.size)
        return torch.sparse_csr_tensor(
            self.starts, self.columns, values.reshape(-1), shape, check_invariants=False
        )


def attend(strength: Tensor, kept: Tensor, features: Tensor, edges: Edges) -> Tensor:
    """For every node and head, the features (nodes x heads x width) of its sources, summed by their shares.

    Shares are the softmax of strengths (edges x heads) over the edges that end in the same node, times `kept`.
    """
    return cast(Tensor, _Attend.apply(strength, kept, features, edges))  # type: ignore[no-untyped-call]


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, strength: Tensor, kept: Tensor, features: Tensor, edges: Edges) -> Tensor:
        nodes, where = features.shape[:2], edges.target[:, None].expand_as(strength)
        largest = strength.new_full(nodes, -torch.inf).scatter_reduce(0, where, strength, "amax")
        exponential = (strength - largest.index_select(0, edges.target)).exp_()
        shares = exponential / _per_target(exponential, edges)
        used = shares * kept
        context.edges = edges
        context.save_for_backward(shares, used, features)
        return _unstack(edges.matrix(used.index_select(0, edges.by_target).T) @ _stack(features), features.shape)

    @staticmethod
    def backward(  # type: ignore[override]
        context: Any, gradient: Tensor
    ) -> tuple[Tensor, None, Tensor, None]:
        edges: Edges = context.edges
        shares, used, features = context.saved_tensors
        above = _stack(gradient)
        for_features = _unstack(edges.matrix(used.T) @ above, features.shape)
        pattern = edges.matrix(used.new_zeros(used.numel()))
        for_used = torch.sparse.sampled_addmm(pattern, _stack(features), above.T, beta=0.0).values()
        weighed = for_used.view(used.shape[1], -1).T.contiguous() * used
        return weighed - shares * _per_target(weighed, edges), None, for_features, None


def _per_target(values: Tensor, edges: Edges) -> Tensor:
    """For every edge, the sum over all edges that end where it does."""
    sums = values.new_zeros(edges.size // values.shape[1], values.shape[1]).index_add_(0, edges.target, values)
    return sums.index_select(0, edges.target)


def _stack(features: Tensor) -> Tensor:
    """Nodes x heads x width as (heads nodes) x width."""
    return features.transpose(0, 1).reshape(-1, features.shape[-1])


def _unstack(rows: Tensor, shape: torch.Size) -> Tensor:
    nodes, heads, width = shape
    return rows.view(heads, nodes, width).transpose(0, 1)
