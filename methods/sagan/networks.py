"""Which network judges pairs: SSI-DDI's, as DDI-Ben runs SAGAN, or SAGAN's own architecture."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from bond_messages import Encoder, Pool
from ddi_sdk import Problem
from graph_layers import shares, total
from molecule_graphs import Graph, members
from substructures import Network
from torch import Tensor, nn


@dataclass(frozen=True)
class Encoded:
    """Molecules: values of their atoms, which lie at `starts`, and a summary of each as head and as tail."""

    atoms: Tensor
    starts: Tensor
    summaries: tuple[Tensor, Tensor]


class OwnNetwork(nn.Module):
    """Each drug's atoms are attended to as the other drug asks, and what is found is multiplied with that drug."""

    def __init__(self, types: int, hidden: int, *, rounds: int, widening: int) -> None:
        super().__init__()
        self.features = 2 * hidden
        self.encoder = Encoder(hidden, rounds=rounds, widening=widening)
        self.pools = nn.ModuleList([Pool(hidden) for _ in range(2)])
        self.questions = nn.ModuleList(
            [nn.Sequential(nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)) for _ in range(2)]
        )
        self.pair = nn.Sequential(nn.Linear(2 * hidden, 2 * hidden), nn.PReLU(), nn.Linear(2 * hidden, hidden))
        self.types = nn.Embedding(types, hidden)

    def forward(self, graph: Graph) -> Encoded:
        atoms = self.encoder(graph)
        head, tail = (pool(atoms, graph.edges, graph.starts, graph.molecule) for pool in self.pools)
        return Encoded(atoms, graph.starts, (head, tail))

    def judge(self, encoded: Encoded, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of pairs of places among the molecules, and what both drugs find in each other."""
        found = []
        for side, ask in enumerate(self.questions):
            other = encoded.summaries[1 - side][pairs[:, 1 - side]]
            found.append(_attended(encoded, pairs[:, side], ask(other)) * other)
        features = torch.cat(found, dim=1)
        return self.pair(features) @ self.types.weight.T, features


def _attended(encoded: Encoded, molecules: Tensor, questions: Tensor) -> Tensor:
    """For each molecule and question the sum of its atoms, weighed by their products with the question."""
    places, sizes = members(encoded.starts, molecules)
    starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    row = torch.arange(len(sizes), device=sizes.device).repeat_interleave(sizes)
    atoms = encoded.atoms[places]
    weights = shares((atoms * questions[row]).sum(dim=1), starts, row)
    return total(atoms * weights[:, None], starts)


def network_of(problem: Problem) -> Network | OwnNetwork:
    """The one that the variant names."""
    given = problem.parameters
    if given["architecture"] == "ssi_ddi":
        return Network(problem.types, given["hidden"])
    return OwnNetwork(problem.types, given["hidden"], rounds=given["rounds"], widening=given["widening"])
