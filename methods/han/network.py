"""HAN (Wang et al. 2019) for two kinds of nodes with one metapath each, as the published code builds it.

Layers carry the published code's names, so that weights can be compared one by one, and draw their starting
weights from torch's global stream in its order; some draws are made and thrown away because the original's
libraries do so. The attention over metapaths has one path to choose from: it is the identity, and only its draws
remain.
"""

from __future__ import annotations

from typing import cast

import torch
from message import Edges, attend
from torch import Tensor, nn
from torch.nn import functional

HEADS, WIDTH, HIDDEN, SEMANTIC = 5, 32, 64, 128
DROPOUT, SLOPE = 0.4, 0.2


class Attention(nn.Module):
    """Graph attention with 5 heads (Velickovic et al. 2018); heads are concatenated."""

    def __init__(self, inward: int) -> None:
        super().__init__()
        gain = nn.init.calculate_gain("relu")
        self.fc = nn.Linear(inward, HEADS * WIDTH, bias=False)
        self.attn_l = nn.Parameter(torch.empty(1, HEADS, WIDTH))
        self.attn_r = nn.Parameter(torch.empty(1, HEADS, WIDTH))
        self.bias = nn.Parameter(torch.zeros(HEADS * WIDTH))
        for weight in (self.fc.weight, self.attn_l, self.attn_r):
            nn.init.xavier_normal_(weight, gain=gain)

    def forward(self, features: Tensor, edges: Edges) -> Tensor:
        # dropout draws for all nodes and edges, in their order: the stream is part of the published run
        dropped = functional.dropout(features, DROPOUT, self.training)
        projected = self.fc(dropped).view(-1, HEADS, WIDTH)
        left, right = ((projected * one).sum(dim=-1) for one in (self.attn_l, self.attn_r))
        strength = functional.leaky_relu(
            left.index_select(0, edges.source) + right.index_select(0, edges.target), SLOPE
        )
        kept = functional.dropout(torch.ones_like(strength), DROPOUT, self.training)
        out = attend(strength, kept, projected, edges).reshape(len(features), HEADS * WIDTH)
        return functional.elu(out + self.bias)


class Layer(nn.Module):
    """One metapath's attention, and the unused weights of an attention over metapaths."""

    def __init__(self, inward: int) -> None:
        super().__init__()
        self.gat_layers = nn.ModuleList([Attention(inward)])
        self.semantic_attention = nn.ModuleDict(
            {
                "project": nn.Sequential(
                    nn.Linear(HEADS * WIDTH, SEMANTIC), nn.Tanh(), nn.Linear(SEMANTIC, 1, bias=False)
                )
            }
        )

    def forward(self, features: Tensor, edges: Edges) -> Tensor:
        return cast(Tensor, self.gat_layers[0](features, edges))


class Network(nn.Module):
    """Logits of all drugs x diseases from features and two graphs."""

    def __init__(self, drugs: int, diseases: int) -> None:
        super().__init__()
        # drawn for the features of both kinds; one kind's are zero for the other, and their weights do nothing
        self.drug_emb, self.dis_emb = (nn.Linear(drugs + diseases, HIDDEN, bias=False) for _ in range(2))
        for layer, seen in ((self.drug_emb, slice(drugs)), (self.dis_emb, slice(drugs, None))):
            layer.weight = nn.Parameter(layer.weight.detach()[:, seen].clone())
        for layer, inward in ((1, HIDDEN), (2, WIDTH)):
            setattr(self, f"embedding_{layer}_drug", Layer(inward))
            setattr(self, f"embedding_{layer}_dis", Layer(inward))
            setattr(self, f"drug_emb_{layer}", nn.Linear(HEADS * WIDTH, WIDTH, bias=False))
            setattr(self, f"dis_emb_{layer}", nn.Linear(HEADS * WIDTH, WIDTH, bias=False))
        self.weights = nn.Linear(WIDTH, WIDTH, bias=False)
        nn.init.xavier_uniform_(self.weights.weight)

    def forward(self, drugs: Tensor, diseases: Tensor, drug_edges: Edges, disease_edges: Edges) -> Tensor:
        drug, disease = self.drug_emb(drugs), self.dis_emb(diseases)
        for layer in (1, 2):
            drug = getattr(self, f"embedding_{layer}_drug")(drug, drug_edges)
            disease = getattr(self, f"embedding_{layer}_dis")(disease, disease_edges)
            drug = getattr(self, f"drug_emb_{layer}")(drug)
            disease = getattr(self, f"dis_emb_{layer}")(disease)
        return self.weights(drug) @ disease.T
