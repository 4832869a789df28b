"""What TIGER is trained on: the types of pairs, and how well a drug's vector knows its own nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from channel import Channel, Part
from ddi_training import Batch, LabelLoss
from network import Network
from torch import Tensor
from torch.nn import functional

# of the loss of atoms, and of that of nodes of the knowledge graph
MUTUAL = 0.1


@dataclass(frozen=True)
class Encoded:
    """Vectors of the nodes of some drugs in both channels, and both halves of each drug's vector."""

    molecules: Part
    atoms: Tensor
    knowledge: Part
    entities: Tensor
    drugs: Tensor


@dataclass(frozen=True)
class Model:
    """The network with the graphs of all drugs, and the loss of the pairs' types."""

    network: Network
    molecules: Channel
    knowledge: Channel
    labels: LabelLoss

    def encode(self, drugs: Tensor) -> Encoded:
        """Each of these drugs once, whichever pairs it is in."""
        molecules, knowledge = self.molecules.take(drugs), self.knowledge.take(drugs)
        atoms, entities = self.network.atoms(molecules), self.network.entities(knowledge)
        vectors = self.network.drugs(atoms, molecules, entities, knowledge)
        return Encoded(molecules, atoms, knowledge, entities, vectors)

    def answer(self, pairs: Tensor) -> tuple[Tensor, Callable[[], Tensor]]:
        """Logits of pairs, and the loss of telling nodes apart, for whoever asks."""
        drugs, places = torch.unique(pairs, return_inverse=True)
        encoded = self.encode(drugs)
        both = self.network.fc1(encoded.drugs.index_select(0, places.T.flatten()))
        heads, tails = both.chunk(2)
        logits = self.network.fc2(torch.cat([heads, tails], dim=1))
        return logits, lambda: self._mutual(encoded, (heads, tails), places)

    def loss(self, batch: Batch) -> Tensor:
        """Of a batch, in which every drug of another pair is another drug to tell apart."""
        logits, mutual = self.answer(batch.pairs)
        return self.labels(logits, batch.target) + mutual()

    def scores(self, pairs: Tensor) -> Tensor:
        """Logits of many pairs: without dropout a drug has one vector, whichever pair it is in."""
        drugs, places = torch.unique(pairs, return_inverse=True)
        vectors = torch.cat([self.network.fc1(self.encode(some).drugs) for some in drugs.split(256)])
        return torch.cat([self.network.fc2(vectors[some].flatten(1)) for some in places.split(4096)])

    def _mutual(self, encoded: Encoded, slots: tuple[Tensor, Tensor], places: Tensor) -> Tensor:
        channels = (encoded.molecules, encoded.atoms), (encoded.knowledge, encoded.entities)
        losses = [
            self._told_apart(vectors, nodes, part, places[:, slot])
            for slot, vectors in enumerate(slots)
            for part, nodes in channels
        ]
        return MUTUAL * torch.stack(losses).sum()

    def _told_apart(self, vectors: Tensor, nodes: Tensor, part: Part, places: Tensor) -> Tensor:
        """Every node of the pairs' drugs against its own drug's vector and against that of another pair's."""
        taken, graphs = part.graphs.take(places)
        form = self.network.disc.f_k
        sought = vectors @ form.weight[0]
        chosen, owner = nodes.index_select(0, taken), graphs.owners()
        agreements = [
            (chosen * one.index_select(0, owner)).sum(dim=1) + form.bias
            for one in (sought, sought[another(len(sought))])
        ]
        logits = torch.cat(agreements)
        truth = (torch.arange(len(logits), device=logits.device) < len(taken)).float()
        return functional.binary_cross_entropy_with_logits(logits, truth)


def another(size: int) -> Tensor:
    """For each pair of a batch the pair whose drug it is told from: the batch reversed, its middle moved."""
    reverse = torch.arange(size - 1, -1, -1)
    if size > 2:
        reverse[size // 2] = reverse[size // 2 + 1]
    return reverse
