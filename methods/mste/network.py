"""MSTE as DDI-Ben has it: drugs and types are vectors, and a score is the length of a sum of sines.

    s(h, r, t) = || sin(t r) h + sin(t h) r - sin(h r) t ||

Products of vectors are by element. A multilabel dataset has two vectors per type; its score is that of "yes" (the
second) minus that of "no".
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

START = 0.01
# as many tails at once as a processor's cache holds with a vector for each of their types
TAILS = 32


class Network(nn.Module):
    """Scores of triplets. Embeddings carry the published code's names."""

    def __init__(
        self, drugs: int, types: int, *, dimension: int, gamma: float, dropout: float, multilabel: bool
    ) -> None:
        super().__init__()
        vectors = (types, dimension, 2) if multilabel else (types, dimension)
        self.entity_embedding = nn.Parameter(torch.empty(drugs, dimension).uniform_(-START, START))
        self.relation_embedding = nn.Parameter(torch.empty(vectors).uniform_(-START, START))
        self.gamma, self.dropout, self.multilabel = gamma, dropout, multilabel

    def forward(self, pairs: Tensor, types: Tensor, *, dropout: bool = True) -> Tensor:
        """[B, K]: each pair with each of its K types."""
        rate = self.dropout if dropout and self.training else 0.0
        h, t = functional.dropout(self.entity_embedding[pairs], rate)[:, :, None].unbind(1)
        r = functional.dropout(self.relation_embedding[types], rate)
        if not self.multilabel:
            return _lengths(h, r, t)
        no, yes = (_lengths(h, one, t) for one in r.unbind(-1))
        return yes - no

    def scores(self, pairs: Tensor) -> Tensor:
        """[M, T]: each pair with all types."""
        if not self.multilabel:
            return _all_lengths(self.entity_embedding, self.relation_embedding, pairs)
        no, yes = (_all_lengths(self.entity_embedding, one, pairs) for one in self.relation_embedding.unbind(-1))
        return yes - no


def _lengths(h: Tensor, r: Tensor, t: Tensor) -> Tensor:
    return (torch.sin(t * r) * h + torch.sin(t * h) * r - torch.sin(h * r) * t).norm(dim=-1)


def _all_lengths(E: Tensor, R: Tensor, pairs: Tensor) -> Tensor:
    """The same for many pairs with all types, head by head: sin(h r) serves all tails of a head."""
    found = E.new_empty(len(pairs), len(R))
    order = torch.argsort(pairs[:, 0], stable=True)
    heads, counts = torch.unique_consecutive(pairs[order, 0], return_counts=True)
    for head, places in zip(heads, order.split(counts.tolist()), strict=True):
        h = E[head]
        sines = torch.sin(h * R)
        for some in places.split(TAILS):
            t = E[pairs[some, 1], None]
            # in place, for these are the largest arrays of all
            sums = torch.sin_(t * R).mul_(h).addcmul_(torch.sin(t * h), R).addcmul_(sines, t, value=-1)
            found[some] = sums.norm(dim=-1)
    return found
