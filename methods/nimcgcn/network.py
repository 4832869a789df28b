"""NIMCGCN (Li et al. 2020): two graph convolutions and three linear layers for each side, scores x y'.

Names of layers are those of the published code, so that its weights can be compared one by one: x are diseases, y
are drugs. Both draw their starting weights from torch's global stream, in the order in which the layers are made.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

WIDTHS = (256, 128, 64)


class GraphConvolution(nn.Module):
    """N' X W + b, with N the normalised adjacency (Kipf and Welling 2017)."""

    def __init__(self, inward: int, outward: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(outward))
        self.lin = nn.Linear(inward, outward, bias=False, device="meta").to_empty(device="cpu")
        # the library initialises a layer when it is made and once more with the convolution around it
        for _ in range(2):
            nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, features: Tensor, normalised: Tensor) -> Tensor:
        return normalised.T @ self.lin(features) + self.bias


class Network(nn.Module):
    """Scores of all diseases x drugs from node features and two graphs."""

    def __init__(self, disease_width: int, drug_width: int) -> None:
        super().__init__()
        self.gcn_x1 = GraphConvolution(disease_width, disease_width)
        self.gcn_y1 = GraphConvolution(drug_width, drug_width)
        self.gcn_x2 = GraphConvolution(disease_width, disease_width)
        self.gcn_y2 = GraphConvolution(drug_width, drug_width)
        for side, first in (("x", disease_width), ("y", drug_width)):
            for number, (inward, outward) in enumerate(zip((first, *WIDTHS), WIDTHS, strict=False), start=1):
                setattr(self, f"linear_{side}_{number}", nn.Linear(inward, outward))

    def forward(self, diseases: Tensor, drugs: Tensor, disease_graph: Tensor, drug_graph: Tensor) -> Tensor:
        return self._side("x", diseases, disease_graph) @ self._side("y", drugs, drug_graph).T

    def _side(self, side: str, features: Tensor, graph: Tensor) -> Tensor:
        for number in (1, 2):
            features = torch.relu(getattr(self, f"gcn_{side}{number}")(features, graph))
        for number in (1, 2, 3):
            features = torch.relu(getattr(self, f"linear_{side}_{number}")(features))
        return features


def normalised_graph(similarity: Tensor) -> Tensor:
    """W_ij / sqrt(deg_i deg_j), where edge i -> j weighs max(similarity_ij, 0) and deg_j sums what comes in.

    A node keeps its own edge where its similarity to itself is not zero (a negative one makes an edge of weight
    0), else gets one of weight 1. The matrix need not be symmetric.
    """
    W = torch.relu(similarity)
    own = similarity.diagonal()
    W.diagonal().copy_(torch.where(own != 0, torch.relu(own), 1.0))
    scale = W.sum(dim=0).pow(-0.5)
    scale[torch.isinf(scale)] = 0.0
    return scale[:, None] * W * scale
