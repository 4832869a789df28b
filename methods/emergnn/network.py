"""EmerGNN (Zhang et al. 2023) as DDI-Ben builds it: relational messages from one drug, read at the other.

Parameters carry the published code's names. In every layer a message is multiplied by its relation's vector and by
the pair's gate for that relation; both directions of a pair have the same gates.
"""

from __future__ import annotations

import torch
from routes import Layer
from torch import Tensor, nn

GATE = 5


class Network(nn.Module):
    """Logits of pairs. Drugs have fingerprints that a linear map makes vectors of, or vectors of their own."""

    def __init__(
        self,
        fingerprints: Tensor,
        *,
        own: bool,
        width: int,
        layers: int,
        relations: int,
        types: int,
        outermost: bool,
        gate: int = GATE,
    ) -> None:
        super().__init__()
        drugs, bits = fingerprints.shape
        self.own, self.outermost = own, outermost
        if own:
            self.ent_kg: nn.Module | nn.Parameter = nn.Embedding(drugs, width)
        else:
            self.ent_kg = nn.Parameter(fingerprints, requires_grad=False)
            self.Went = nn.Linear(bits, width)
        self.Wr = nn.Linear((4 if own else 2) * width, types)
        self.rel_kg = nn.ModuleList([nn.Embedding(relations, width) for _ in range(layers)])
        self.linear = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        # without any effect, but part of the published model
        self.W = nn.Linear(width, 1)
        for parameter in self.parameters():
            if parameter.ndim > 1 and parameter.requires_grad:
                nn.init.xavier_uniform_(parameter)
        # the gates keep torch's own start
        self.relation_linear = nn.ModuleList([nn.Linear(2 * width, gate) for _ in range(layers)])
        self.attn_relation = nn.ModuleList([nn.Linear(gate, relations) for _ in range(layers)])

    def forward(self, pairs: Tensor, layers: list[Layer]) -> Tensor:
        logits: Tensor = self.Wr(self.encode(pairs, layers))
        return logits

    def encode(self, pairs: Tensor, layers: list[Layer]) -> Tensor:
        """What the last layer reads: what arrives at the head and at the tail, and the drugs' own vectors."""
        head, tail = (self._vectors(one) for one in pairs.T)
        both, hidden = torch.cat([head, tail], dim=1), torch.cat([head, tail])
        for number, layer in enumerate(layers):
            gates = torch.sigmoid(self.attn_relation[number](torch.relu(self.relation_linear[number](both))))
            factor = self.rel_kg[number].weight[layer.relations] * gates.view(-1)[layer.gates][:, None]
            hidden = torch.relu(self.linear[number](layer.combine.times(layer.collect.times(hidden) * factor)))
            if layer.reached is not None:
                # what reached vectors have beyond the constant, which all nodes send alike
                hidden = hidden - torch.relu(self.linear[number].bias) * layer.reached[:, None]
        at_tail, at_head = hidden.chunk(2)
        if not self.own:
            return torch.cat([at_head, at_tail], dim=1)
        if self.outermost:
            return torch.cat([head, at_head, at_tail, tail], dim=1)
        return torch.cat([head, tail, at_head, at_tail], dim=1)

    def _vectors(self, drugs: Tensor) -> Tensor:
        if self.own:
            return self.ent_kg(drugs)
        return self.Went(self.ent_kg[drugs])
