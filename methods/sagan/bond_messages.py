"""SAGAN's own encoder of molecules: messages from bond to bond, and attention that chooses after how many rounds a
bond has seen the substructure that matters.
"""

from __future__ import annotations

import torch
from graph_layers import shares, total
from molecule_graphs import Edges, Graph, members
from molecules import FEATURES, KINDS
from torch import Tensor, nn
from torch.nn import functional

SLOPE = 0.2


class Pool(nn.Module):
    """The weighted sum of the nodes of a molecule; weights come from graph attention with a single channel."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.project = nn.Linear(hidden, 1, bias=False)
        self.attention = nn.Parameter(torch.ones(2))

    def forward(self, values: Tensor, links: Edges, starts: Tensor, molecule: Tensor) -> Tensor:
        """Links join the nodes, which lie at `starts` molecule by molecule."""
        projected = self.project(values).view(-1)
        ends = projected.index_select(0, links.source), projected.index_select(0, links.target)
        strength = functional.leaky_relu(self.attention[0] * ends[0] + self.attention[1] * ends[1], SLOPE)
        scores = total(shares(strength, links.starts, links.target) * ends[0], links.starts)
        return total(values * shares(scores, starts, molecule)[:, None], starts)


class BondMessages(nn.Module):
    """Directed message passing (Dai et al. 2016; Yang et al. 2019) with attention over its rounds."""

    def __init__(self, hidden: int, rounds: int) -> None:
        super().__init__()
        self.source, self.target = (nn.Linear(hidden, hidden, bias=False) for _ in range(2))
        self.kind = nn.Linear(KINDS, hidden, bias=False)
        self.pool = Pool(hidden)
        self.summary = nn.Linear(hidden, hidden)
        self.round_weights = nn.Parameter(torch.empty(rounds, hidden))
        self.round_bias = nn.Parameter(torch.zeros(rounds))
        nn.init.xavier_uniform_(self.round_weights)

    def forward(self, atoms: Tensor, graph: Graph) -> Tensor:
        """Atoms with what their bonds bring them."""
        bonds, kept = graph.edges.without_loops()
        first = self.source(atoms).index_select(0, bonds.source) + self.target(atoms).index_select(0, bonds.target)
        first = (first + functional.embedding(graph.kinds[kept], self.kind.weight.T)) / 3
        starts, molecule, links = bonds.starts[graph.starts], graph.molecule[bonds.target], line_graph(bonds)
        messages, rounds, summaries = first, [], []
        for _ in self.round_bias:
            # what comes to a bond's source, but for what it sent there itself
            into = total(messages, bonds.starts).index_select(0, bonds.source)
            messages = first + into - messages.index_select(0, bonds.opposite)
            rounds.append(messages)
            summaries.append(torch.tanh(self.summary(self.pool(messages, links, starts, molecule))))
        strengths = (torch.stack(summaries, dim=1) * self.round_weights).sum(dim=2) + self.round_bias
        weights = functional.softmax(strengths, dim=1)[molecule].split(1, dim=1)
        chosen = sum((weight * one for weight, one in zip(weights, rounds, strict=True)), torch.zeros_like(first))
        return atoms + total(chosen, bonds.starts)


def line_graph(bonds: Edges) -> Edges:
    """Links to each bond from itself and from the other bonds that end where it starts."""
    source, counts = members(bonds.starts, bonds.source)
    target = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
    opposite = bonds.opposite[target]
    # each bond's opposite is among those that end where it starts, and leaves its place to the bond itself
    source = torch.where(source == opposite, target, source)
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return Edges(source, target, starts, opposite)


class Widened(nn.Module):
    """Layers between atoms' values, wider than these, each averaged with its input."""

    def __init__(self, hidden: int, times: int) -> None:
        super().__init__()
        wide = hidden * times
        self.inward = nn.Sequential(nn.BatchNorm1d(hidden), nn.Linear(hidden, wide))
        self.inner = nn.ModuleList([nn.Sequential(*(_layer(wide) for _ in range(count))) for count in (2, 1)])
        self.outward = nn.Sequential(nn.BatchNorm1d(wide), nn.PReLU(), nn.Linear(wide, hidden))

    def forward(self, values: Tensor) -> Tensor:
        values = self.inward(values)
        for layers in self.inner:
            values = (layers(values) + values) / 2
        return self.outward(values)


def _layer(wide: int) -> nn.Sequential:
    return nn.Sequential(nn.BatchNorm1d(wide), nn.PReLU(), nn.Linear(wide, wide))


class Encoder(nn.Module):
    """Values of atoms."""

    def __init__(self, hidden: int, *, rounds: int, widening: int) -> None:
        super().__init__()
        self.inward = nn.Sequential(
            nn.Linear(FEATURES, hidden),
            nn.PReLU(),
            nn.Linear(hidden, hidden),
            nn.BatchNorm1d(hidden),
            nn.PReLU(),
            nn.Linear(hidden, hidden),
            nn.BatchNorm1d(hidden),
        )
        self.messages = BondMessages(hidden, rounds)
        self.outward = Widened(hidden, widening)

    def forward(self, graph: Graph) -> Tensor:
        return self.outward(self.messages(self.inward(graph.atoms), graph))
