"""What layers on molecules are made of: sums and shares within segments, messages along edges, a norm per graph.

A sum over edges is a product with a sparse matrix, and so are its gradients, because with an edge goes its
opposite; nothing of size edges x width is made.
"""

from __future__ import annotations

from typing import Any

import torch
from molecule_graphs import Edges, Graph
from torch import Tensor, nn


def total(values: Tensor, starts: Tensor) -> Tensor:
    """The sum of each segment's values."""
    return torch.segment_reduce(values, "sum", offsets=starts, axis=0)


def shares(values: Tensor, starts: Tensor, segment: Tensor) -> Tensor:
    """Softmax within each segment; `segment` is the number of each value's segment."""
    largest = torch.segment_reduce(values.detach(), "max", offsets=starts, axis=0)
    raised = torch.exp(values - largest.index_select(0, segment))
    return raised / total(raised, starts).index_select(0, segment)


def gather(weights: Tensor, values: Tensor, edges: Edges) -> Tensor:
    """At each atom, the weighted sum of the values at the sources of its edges."""
    gathered: Tensor = _Gather.apply(weights, values, edges)
    return gathered


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, edges: Edges) -> Tensor:
        ctx.save_for_backward(weights, values)
        ctx.edges = edges
        return _matrix(weights, edges) @ values

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (weights, values), edges, gradient = ctx.saved_tensors, ctx.edges, gradients[0].contiguous()
        for_weights = for_values = None
        if ctx.needs_input_grad[0]:
            pattern = _matrix(torch.zeros_like(weights), edges)
            for_weights = torch.sparse.sampled_addmm(pattern, gradient, values.T).values()
        if ctx.needs_input_grad[1]:
            for_values = _matrix(weights.index_select(0, edges.opposite), edges) @ gradient
        return for_weights, for_values, None


def _matrix(weights: Tensor, edges: Edges) -> Tensor:
    size = len(edges.starts) - 1
    return torch.sparse_csr_tensor(edges.starts, edges.source, weights, (size, size), check_invariants=False)


class GraphNorm(nn.Module):
    """Layer normalisation over all atoms and channels of a molecule, then a scale and a shift per channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, values: Tensor, graph: Graph) -> Tensor:
        normed: Tensor = _Norm.apply(values, self.weight, self.bias, graph)
        return normed


class _Norm(torch.autograd.Function):
    """With its gradient written down, which takes a third of the passes over memory that composing it does."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, bias: Tensor, graph: Graph) -> Tensor:
        centred = values - _mean(values.sum(dim=1), graph, values.shape[1])
        scale = torch.rsqrt(_mean(centred.square().sum(dim=1), graph, values.shape[1]) + 1e-5)
        standard = centred.mul_(scale)
        ctx.save_for_backward(standard, scale, weight)
        ctx.graph = graph
        return torch.addcmul(bias, standard, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        (standard, scale, weight), gradient = ctx.saved_tensors, gradients[0]
        product = gradient * standard
        ones = weight.new_ones(len(gradient))
        for_values = None
        if ctx.needs_input_grad[0]:
            along, across = (_mean(one @ weight, ctx.graph, len(weight)) for one in (product, gradient))
            for_values = (gradient * weight).sub_(across).addcmul_(standard, along, value=-1).mul_(scale)
        return for_values, ones @ product, ones @ gradient, None


def _mean(sums: Tensor, graph: Graph, width: int) -> Tensor:
    """For each atom the mean over its molecule's atoms and channels, from the sums over the channels of each."""
    count = (graph.starts[1:] - graph.starts[:-1]) * width
    return (total(sums, graph.starts) / count).index_select(0, graph.molecule)[:, None]
