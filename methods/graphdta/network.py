"""GraphDTA: a molecule's graph and a protein's letters become vectors, and a pair of them a number.

The four networks differ in what reads the graph. `drugs` and `targets` see what is distinct in a batch once,
`pairs` what follows dropout, which is drawn for each pair anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from drug_graphs import FEATURES
from graph_layers import total
from layers import AtomNorm, GraphAttention, GraphConvolution, GraphIsomorphism, Proteins, convolved, largest
from molecule_graphs import Graph
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Sizes:
    """Widths of layers; `layers` are those of the graph, `drug` those behind it, `head` those of a pair."""

    layers: tuple[int, ...]
    drug: tuple[int, ...]
    head: tuple[int, int]
    atoms: int = FEATURES
    heads: int = 10
    letters: int = 26
    length: int = 1000
    embedding: int = 128
    filters: int = 32
    kernel: int = 8
    protein: int = 128


class Network(nn.Module):
    """What the four have in common."""

    # two layers that one of the published codes calls otherwise
    CONVOLUTION, PROTEIN = "conv_xt_1", "fc1_xt"

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.sizes, self.dropout = sizes, dropout
        self.embedding_xt = nn.Embedding(sizes.letters, sizes.embedding)
        places = sizes.embedding - sizes.kernel + 1
        self.add_module(self.CONVOLUTION, nn.Conv1d(sizes.length, sizes.filters, sizes.kernel))
        self.add_module(self.PROTEIN, nn.Linear(sizes.filters * places, sizes.protein))
        self.fc1 = nn.Linear(sizes.drug[-1] + sizes.protein, sizes.head[0])
        self.fc2 = nn.Linear(*sizes.head)
        self.out = nn.Linear(sizes.head[1], 1)

    def drugs(self, graph: Graph, counts: Tensor) -> Tensor:
        """A row per molecule, each of which is so often in the batch."""
        raise NotImplementedError

    def targets(self, proteins: Proteins) -> Tensor:
        """A row per protein."""
        layer = self.get_submodule(self.CONVOLUTION)
        assert isinstance(layer, nn.Conv1d)
        rows: Tensor = self.get_submodule(self.PROTEIN)(
            self.filtered(convolved(proteins, self.embedding_xt.weight, layer)).flatten(1)
        )
        return rows

    def filtered(self, values: Tensor) -> Tensor:
        """What follows the convolution: nothing, but in one of the four."""
        return values

    def described(self, drugs: Tensor) -> Tensor:
        """What is left to do with a pair's row of `drugs`."""
        return drugs

    def pairs(self, drugs: Tensor, targets: Tensor) -> Tensor:
        """A number for each row of a drug and a target."""
        values = torch.cat([self.described(drugs), targets], dim=1)
        for layer in (self.fc1, self.fc2):
            values = self.dropped(functional.relu(layer(values)))
        answer: Tensor = self.out(values)
        return answer[:, 0]

    def dropped(self, values: Tensor) -> Tensor:
        """Dropout."""
        return functional.dropout(values, self.dropout, self.training)


class GCN(Network):
    """Three graph convolutions, the largest of a molecule's atoms, two layers."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__(sizes, dropout)
        widths = (sizes.atoms, *sizes.layers)
        for number, (inward, outward) in enumerate(zip(widths, sizes.layers, strict=False), start=1):
            self.add_module(f"conv{number}", GraphConvolution(inward, outward))
        self.fc_g1 = nn.Linear(sizes.layers[-1], sizes.drug[0])
        self.fc_g2 = nn.Linear(*sizes.drug)

    def drugs(self, graph: Graph, counts: Tensor) -> Tensor:
        values = graph.atoms
        for number in range(1, len(self.sizes.layers) + 1):
            values = functional.relu(self.get_submodule(f"conv{number}")(values, graph.edges))
        return functional.relu(self.fc_g1(largest(values, graph)))

    def described(self, drugs: Tensor) -> Tensor:
        return self.dropped(self.fc_g2(self.dropped(drugs)))


class GAT(Network):
    """Two layers of attention, the second with one head, the largest of a molecule's atoms, a layer.

    All dropout of this branch lies before the molecule's row, so pairs of one drug in a batch share it.
    """

    CONVOLUTION, PROTEIN = "conv_xt1", "fc_xt1"

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__(sizes, dropout)
        self.gcn1 = GraphAttention(sizes.atoms, sizes.layers[0], sizes.heads)
        self.gcn2 = GraphAttention(sizes.heads * sizes.layers[0], sizes.layers[1], 1)
        self.fc_g1 = nn.Linear(sizes.layers[1], sizes.drug[0])

    def drugs(self, graph: Graph, counts: Tensor) -> Tensor:
        edges = graph.edges.copies(self.sizes.heads)
        values = functional.elu(self.gcn1(self.dropped(graph.atoms), edges, self.dropout))
        values = functional.relu(self.gcn2(self.dropped(values), graph.edges))
        return functional.relu(self.fc_g1(largest(values, graph)))

    def filtered(self, values: Tensor) -> Tensor:
        return functional.relu(values)


class GATGCN(Network):
    """Attention, a graph convolution, the largest and the mean of a molecule's atoms, two layers."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__(sizes, dropout)
        self.conv1 = GraphAttention(sizes.atoms, sizes.layers[0], sizes.heads)
        self.conv2 = GraphConvolution(sizes.heads * sizes.layers[0], sizes.layers[1])
        self.fc_g1 = nn.Linear(2 * sizes.layers[1], sizes.drug[0])
        self.fc_g2 = nn.Linear(*sizes.drug)

    def drugs(self, graph: Graph, counts: Tensor) -> Tensor:
        values = functional.relu(self.conv1(graph.atoms, graph.edges.copies(self.sizes.heads)))
        values = functional.relu(self.conv2(values, graph.edges))
        mean = total(values, graph.starts) / (graph.starts[1:] - graph.starts[:-1])[:, None]
        return functional.relu(self.fc_g1(torch.cat([largest(values, graph), mean], dim=1)))

    def described(self, drugs: Tensor) -> Tensor:
        values: Tensor = self.fc_g2(self.dropped(drugs))
        return values


class GIN(Network):
    """Rounds of sums over neighbours with a normalisation each, the sum of a molecule's atoms, a layer."""

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__(sizes, dropout)
        widths = (sizes.atoms, *sizes.layers)
        for number, (inward, outward) in enumerate(zip(widths, sizes.layers, strict=False), start=1):
            self.add_module(f"conv{number}", GraphIsomorphism(inward, outward))
            self.add_module(f"bn{number}", AtomNorm(outward))
        self.fc1_xd = nn.Linear(sizes.layers[-1], sizes.drug[0])

    def drugs(self, graph: Graph, counts: Tensor) -> Tensor:
        values = graph.atoms
        often = counts.to(values.dtype).index_select(0, graph.molecule)
        for number in range(1, len(self.sizes.layers) + 1):
            values = functional.relu(self.get_submodule(f"conv{number}")(values, graph.edges))
            values = self.get_submodule(f"bn{number}")(values, often)
        return functional.relu(self.fc1_xd(total(values, graph.starts)))

    def described(self, drugs: Tensor) -> Tensor:
        return self.dropped(drugs)


NETWORKS: dict[str, type[Network]] = {"gcn": GCN, "gat": GAT, "gat_gcn": GATGCN, "gin": GIN}
PUBLISHED = {
    "gcn": Sizes((FEATURES, 2 * FEATURES, 4 * FEATURES), (1024, 128), (1024, 512)),
    "gat": Sizes((FEATURES, 128), (128,), (1024, 256)),
    "gat_gcn": Sizes((FEATURES, 10 * FEATURES), (1500, 128), (1024, 512)),
    "gin": Sizes((32,) * 5, (128,), (1024, 256)),
}
