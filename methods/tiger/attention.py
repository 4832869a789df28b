"""How nodes gather along paths: in the published code as a plain sum, in the paper by relation-aware attention.

The original computes weights from queries, keys, relations and path values and hands them to a layer that ignores
them: every node gets the sum of its sources' values, and what made the weights is never trained. `attended=True`
is the paper's attention: softmax over a node's paths of (query + relation)(key + relation) / sqrt(width of a
head), plus a number made of the path's value.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from channel import Part
from graph_layers import gather, shares
from molecule_graphs import Edges
from torch import Tensor, nn


class PathBias(nn.Module):
    """A number for the value of a path, the same for all heads."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fnn = nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, values: Tensor) -> Tensor:
        # values are few, and whole numbers
        numbers = torch.arange(int(values.max()) + 1, device=values.device, dtype=values.dtype)
        return cast(Tensor, self.fnn(numbers[:, None]).index_select(0, values.long()))


class Attention(nn.Module):
    """Heads side by side, and a last matrix over all of them."""

    def __init__(self, width: int, heads: int, relations: nn.Embedding, bias: PathBias, *, attended: bool) -> None:
        super().__init__()
        self.rel_embedding, self.spatial_encoding = relations, bias
        # unused, in the paper too; kept for its weights
        self.rel_encoding = nn.Sequential(nn.Linear(width, 1))
        self.wq, self.wk, self.wv, self.dense = (nn.Linear(width, width) for _ in range(4))
        self.heads, self.attended = heads, attended

    def forward(self, nodes: Tensor, part: Part) -> Tensor:
        values = self.wv(nodes)
        gathered = self._attend(nodes, values, part) if self.attended else plain_sum(values, part)
        return cast(Tensor, self.dense(gathered))

    def _attend(self, nodes: Tensor, values: Tensor, part: Part) -> Tensor:
        edges = part.edges()
        weights = shares(self._strengths(nodes, part, edges), edges.starts, edges.target)
        columns = zip(weights.unbind(1), values.chunk(self.heads, dim=1), strict=True)
        return torch.cat([gather(one, column, edges) for one, column in columns], dim=1)

    def _strengths(self, nodes: Tensor, part: Part, edges: Edges) -> Tensor:
        """For every path and head. The product is taken apart, because there are few relations and many paths."""
        width = nodes.shape[1] // self.heads
        query, key = self.wq(nodes), self.wk(nodes)
        columns = zip(*(one.chunk(self.heads, dim=1) for one in (query, key)), strict=True)
        product = torch.stack([along(one, other, edges) for one, other in columns], dim=1)
        relation = self.rel_embedding.weight.view(-1, self.heads, width)
        both = torch.einsum("rhd,rhd->rh", relation, relation)
        to, by = (
            torch.einsum("nhd,rhd->nrh", one.view(-1, self.heads, width), relation).flatten(0, 1)
            for one in (query, key)
        )
        for table, ends in ((to, edges.target), (by, edges.source)):
            product = product + table.index_select(0, ends * len(relation) + part.relation)
        return (product + both.index_select(0, part.relation)) / width**0.5 + self.spatial_encoding(part.value)


def plain_sum(values: Tensor, part: Part) -> Tensor:
    """The sum over all paths to a node: over its group, and what is missing there."""
    by_group = torch.zeros_like(values).index_add(0, part.group, values)
    summed = by_group.index_select(0, part.group)
    missing = values.index_select(0, part.source) * part.value[:, None]
    return summed.index_add(0, part.target, missing)


def along(of_target: Tensor, of_source: Tensor, edges: Edges) -> Tensor:
    """For each edge the product of its target's row of one array with its source's row of another."""
    return cast(Tensor, _Along.apply(of_target, of_source, edges))  # type: ignore[no-untyped-call]


class _Along(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, of_target: Tensor, of_source: Tensor, edges: Edges) -> Tensor:
        context.edges = edges
        context.save_for_backward(of_target, of_source)
        nothing = of_target.new_zeros(len(edges.source))
        shape = len(of_target), len(of_target)
        pattern = torch.sparse_csr_tensor(edges.starts, edges.source, nothing, shape, check_invariants=False)
        return torch.sparse.sampled_addmm(pattern, of_target.contiguous(), of_source.T.contiguous()).values()

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[override]
        (of_target, of_source), edges = context.saved_tensors, context.edges
        back = gradient.index_select(0, edges.opposite)
        return gather(gradient, of_source, edges), gather(back, of_target, edges), None
