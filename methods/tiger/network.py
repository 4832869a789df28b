"""TIGER (Su et al. 2024) as DDI-Ben runs it: a graph transformer per channel, then perceptrons on pairs of drugs.

Modules carry the original's names, so that weights can be compared one by one. Of each block the published variant
uses the values alone: queries, keys, relations and path values weigh nothing there (see attention.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from attention import Attention, PathBias
from channel import Part
from torch import Tensor, nn

EPSILON = 1e-6


@dataclass(frozen=True)
class Sizes:
    """What the graphs have: nodes of the knowledge graph, and relations and degrees of both channels."""

    features: int
    entities: int
    molecule_relations: int
    molecule_degrees: int
    knowledge_relations: int
    knowledge_degrees: int


@dataclass(frozen=True)
class Widths:
    """Of nodes, and of what lies within a block, between channels and drug, and between drugs and types."""

    nodes: int
    block: int
    drug: tuple[int, int] = (256, 128)
    pair: tuple[int, int] = (256, 512)

    @classmethod
    def of(cls, width: int) -> Widths:
        """As published, around nodes of this width."""
        return cls(width, 2 * width)


class Nodes(nn.Module):
    """What a node is, from its features or its id, plus a vector of its degree; that of 0 is not trained."""

    def __init__(self, encoder: nn.Module, degrees: int, width: int) -> None:
        super().__init__()
        self.node_encoder = encoder
        self.degree_encoder = nn.Embedding(degrees, width, padding_idx=0)
        if isinstance(encoder, nn.Linear):
            nn.init.normal_(encoder.weight, std=0.02 / 2**0.5)
            nn.init.zeros_(encoder.bias)
        else:
            nn.init.normal_(cast(nn.Embedding, encoder).weight, std=0.02)
        nn.init.normal_(self.degree_encoder.weight, std=0.02)

    def forward(self, part: Part) -> Tensor:
        return cast(Tensor, self.node_encoder(part.nodes) + self.degree_encoder(part.degree))


class Block(nn.Module):
    """What a node gathers along its paths, then a perceptron, each added to what the node was."""

    def __init__(self, width: int, hidden: int, attention: Attention, dropout: float) -> None:
        super().__init__()
        self.multiHeadAttention = attention
        self.ffn = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
        self.layernorm1, self.layernorm2 = (nn.LayerNorm(width, eps=EPSILON) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes: Tensor, part: Part) -> Tensor:
        nodes = nodes + self.dropout(self.multiHeadAttention(self.layernorm1(nodes), part))
        return cast(Tensor, nodes + self.dropout(self.ffn(self.layernorm2(nodes))))


class Transformer(nn.Module):
    """One block fewer than the layers asked for, as in the original; blocks share relations and path values."""

    def __init__(
        self, relations: int, widths: Widths, *, layers: int, heads: int, attended: bool, dropout: float
    ) -> None:
        super().__init__()
        width = widths.nodes
        self.rel_encoder = nn.Embedding(relations, width)
        self.spatial_encoder = PathBias(width)
        shared = self.rel_encoder, self.spatial_encoder
        self.encoder = nn.ModuleList(
            Block(width, widths.block, Attention(width, heads, *shared, attended=attended), dropout)
            for _ in range(layers - 1)
        )

    def forward(self, nodes: Tensor, part: Part) -> Tensor:
        for block in self.encoder:
            nodes = block(nodes, part)
        return nodes


class Discriminator(nn.Module):
    """Whether a node belongs to a drug: a bilinear form."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.f_k = nn.Bilinear(width, width, 1)
        nn.init.xavier_uniform_(self.f_k.weight)
        nn.init.zeros_(self.f_k.bias)


class Network(nn.Module):
    """Vectors of nodes and drugs, and logits of pairs."""

    def __init__(
        self, sizes: Sizes, types: int, widths: Widths, *, layers: int, heads: int, attended: bool, dropout: float
    ) -> None:
        super().__init__()
        width = widths.nodes
        self.mol_atom_feature = Nodes(nn.Linear(sizes.features, width), sizes.molecule_degrees, width)
        self.drug_node_feature = Nodes(nn.Embedding(sizes.entities, width), sizes.knowledge_degrees, width)
        self.mol_representation_learning, self.node_representation_learning = (
            Transformer(relations, widths, layers=layers, heads=heads, attended=attended, dropout=dropout)
            for relations in (sizes.molecule_relations, sizes.knowledge_relations)
        )
        self.fc1 = _perceptron(2 * width, *widths.drug, width, dropout)
        self.fc2 = _perceptron(2 * width, *widths.pair, types, dropout)
        self.disc = Discriminator(width)

    def atoms(self, part: Part) -> Tensor:
        """Vectors of all atoms."""
        return cast(Tensor, self.mol_representation_learning(self.mol_atom_feature(part), part))

    def entities(self, part: Part) -> Tensor:
        """Vectors of all nodes of the knowledge graph."""
        return cast(Tensor, self.node_representation_learning(self.drug_node_feature(part), part))

    def drugs(self, atoms: Tensor, molecules: Part, entities: Tensor, knowledge: Part) -> Tensor:
        """Of both channels: the drug's own node beside the mean of its atoms."""
        owner, sizes = molecules.graphs.owners(), molecules.graphs.sizes
        summed = atoms.new_zeros(len(sizes), atoms.shape[1]).index_add(0, owner, atoms)
        return torch.cat([entities.index_select(0, knowledge.own), summed / sizes[:, None]], dim=1)


def _perceptron(inward: int, first: int, second: int, outward: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inward, first),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(first, second),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(second, outward),
    )
