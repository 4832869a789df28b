"""The network of SSI-DDI: four rounds of graph attention give each drug four substructures; a pair's score of a
type is the sum over its 16 pairs of substructures, each weighed by co-attention.

Layers carry the published code's names, so that weights can be compared one by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from graph_layers import GraphNorm, gather, shares, total
from molecule_graphs import Edges, Graph
from molecules import FEATURES
from torch import Tensor, nn
from torch.nn import functional

HEADS, ROUNDS, SLOPE = 2, 4, 0.2


@dataclass(frozen=True)
class Sizes:
    """Heads of attention, substructures per drug, and features of an atom."""

    heads: int = HEADS
    rounds: int = ROUNDS
    atoms: int = FEATURES


_PUBLISHED = Sizes()


class GraphAttention(nn.Module):
    """Graph attention (Velickovic et al. 2018) with heads whose outputs stand side by side."""

    def __init__(self, inward: int, width: int, heads: int) -> None:
        super().__init__()
        self.att_src, self.att_dst = (nn.Parameter(torch.empty(1, heads, width)) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(heads * width))
        self.lin_src = nn.Linear(inward, heads * width, bias=False)
        # one matrix under two names, as the original's library has it
        self.lin_dst = self.lin_src
        nn.init.xavier_uniform_(self.lin_src.weight)
        for one in (self.att_src, self.att_dst):
            _uniform(one, heads + width)

    def forward(self, values: Tensor, edges: Edges) -> Tensor:
        """Edges have a copy for each head."""
        _, heads, width = self.att_src.shape
        projected = self.lin_src(values).view(-1, heads, width)
        source, target = (
            torch.einsum("ahc,hc->ha", projected, one[0]).reshape(-1) for one in (self.att_src, self.att_dst)
        )
        strength = source.index_select(0, edges.source) + target.index_select(0, edges.target)
        weights = shares(functional.leaky_relu(strength, SLOPE), edges.starts, edges.target)
        gathered = gather(weights, projected.transpose(0, 1).reshape(-1, width), edges)
        return gathered.view(heads, -1, width).transpose(0, 1).reshape(-1, heads * width) + self.bias


class Score(nn.Module):
    """The attention of a molecule to its atoms, from their own values and the sum of their neighbours'."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gnn = nn.ModuleDict({"lin_rel": nn.Linear(width, 1), "lin_root": nn.Linear(width, 1, bias=False)})

    def forward(self, values: Tensor, graph: Graph) -> Tensor:
        around, root = self.gnn["lin_rel"], self.gnn["lin_root"]
        theirs, own = functional.linear(values, torch.cat([around.weight, root.weight])).unbind(dim=1)
        # edges have a loop at every atom, which is no neighbour
        neighbours = total(theirs.index_select(0, graph.edges.source), graph.edges.starts) - theirs
        return shares(neighbours + around.bias + own, graph.starts, graph.molecule)


class Round(nn.Module):
    """Graph attention, and what a molecule's attention makes of its outcome: one substructure."""

    def __init__(self, inward: int, width: int, heads: int) -> None:
        super().__init__()
        self.conv = GraphAttention(inward, width, heads)
        self.readout = Score(heads * width)

    def forward(self, values: Tensor, graph: Graph, edges: Edges) -> tuple[Tensor, Tensor]:
        values = self.conv(values, edges)
        return values, total(values * self.readout(values, graph)[:, None], graph.starts)


class Encoder(nn.Module):
    """A substructure per round of every molecule [molecules, rounds, hidden]."""

    def __init__(self, hidden: int, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.initial_norm = GraphNorm(sizes.atoms)
        # the last one is never used, and part of the original's weights
        self.net_norms = nn.ModuleList([GraphNorm(hidden) for _ in range(sizes.rounds)])
        for number in range(sizes.rounds):
            inward = hidden if number else sizes.atoms
            self.add_module(f"block{number}", Round(inward, hidden // sizes.heads, sizes.heads))

    def forward(self, graph: Graph) -> Tensor:
        edges = graph.edges.copies(self.sizes.heads)
        values = self.initial_norm(graph.atoms, graph)
        found = []
        for number, norm in enumerate(self.net_norms):
            values, substructure = self.get_submodule(f"block{number}")(values, graph, edges)
            found.append(substructure)
            if number < self.sizes.rounds - 1:
                values = functional.elu(norm(values, graph))
        return torch.stack(found, dim=1)


class CoAttention(nn.Module):
    """How much each pair of substructures counts [pairs, rounds, rounds]."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        half = hidden // 2
        self.w_q, self.w_k = (nn.Parameter(torch.empty(hidden, half)) for _ in range(2))
        self.bias, self.a = (nn.Parameter(torch.empty(half)) for _ in range(2))
        for matrix in (self.w_q, self.w_k):
            nn.init.xavier_uniform_(matrix)
        for vector in (self.bias, self.a):
            _uniform(vector, half + 1)

    def forward(self, substructures: Tensor, head: Tensor, tail: Tensor) -> Tensor:
        keys, queries = (substructures @ self.w_k)[head], (substructures @ self.w_q)[tail]
        return torch.tanh(keys[:, :, None] + queries[:, None] + self.bias) @ self.a


class Network(Encoder):
    """Logits of all types for pairs of molecules: `forward` sees each molecule once, `judge` each pair."""

    def __init__(self, types: int, hidden: int, sizes: Sizes = _PUBLISHED) -> None:
        super().__init__(hidden, sizes)
        self.features = 2 * hidden
        self.co_attention = CoAttention(hidden)
        self.KGE = nn.ModuleDict({"rel_emb": nn.Embedding(types, hidden * hidden)})
        nn.init.xavier_uniform_(self.KGE["rel_emb"].weight)

    def judge(self, substructures: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of pairs of places in `substructures`, and of each pair both drugs' mean substructures.

        The sum over pairs of substructures is taken before the product with the types' matrices, which is the same
        for all of them.
        """
        head, tail = pairs.T
        weights = self.co_attention(substructures, head, tail)
        directions = functional.normalize(substructures, dim=2)
        joint = directions[head].transpose(1, 2) @ weights @ directions[tail]
        logits = joint.flatten(1) @ functional.normalize(self.KGE["rel_emb"].weight, dim=1).T
        return logits, substructures.mean(dim=1)[pairs].flatten(1)


def _uniform(parameter: nn.Parameter, sides: int) -> None:
    """Glorot's bound for a matrix whose sides add up to that."""
    bound = math.sqrt(6 / sides)
    nn.init.uniform_(parameter, -bound, bound)
