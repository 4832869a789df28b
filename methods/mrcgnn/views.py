"""The three graphs that MRCGNN encodes, as constant matrices: what a step does not change is worked out once.

A product of a drug's features with a type's weights is made once per step, whichever graph sends it along however
many edges, and only where there is such an edge. Features are few and never trained, so that all these products
are one sparse matrix times the weights of all types.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from sparse_products import Fixed
from torch import Tensor


@dataclass(frozen=True)
class Edges:
    """Directed edges with their types; several may join the same drugs, also with the same type."""

    source: Tensor
    target: Tensor
    kind: Tensor

    def shares(self, types: int) -> Tensor:
        """What an edge counts in the mean over all edges of its type that end where it does."""
        _, which, counts = torch.unique(self.target * types + self.kind, return_inverse=True, return_counts=True)
        return 1.0 / counts[which].double()


@dataclass(frozen=True)
class Views:
    """The graph as it is, with its drugs' features permuted, and with its types shuffled.

    `products` takes the weights of all types, one below the other, to what is sent in the first layer; `means`
    takes that to what arrives, for the drugs of all three graphs. In the second layer the graph as it is sends
    from `senders`, in order of their type (`sent` per type), and `gathered` is what arrives; the other two graphs
    are read as one number per drug and type.
    """

    features: Tensor
    sparse: Fixed
    permutation: Tensor
    products: Fixed
    means: Fixed
    senders: Tensor
    sent: list[int]
    gathered: Fixed
    numbers: Fixed
    numbers_shuffled: Fixed

    @classmethod
    def of(cls, features: Tensor, edges: Edges, shuffled: Tensor, permutation: Tensor, types: int) -> Views:
        """The views of drugs with these features (rows); `shuffled` are the types of the third view's edges."""
        drugs = len(features)
        other = Edges(edges.source, edges.target, shuffled)
        # by type, then by the drug whose features are seen
        sending = [
            edges.kind * drugs + edges.source,
            edges.kind * drugs + permutation[edges.source],
            shuffled * drugs + edges.source,
        ]
        pairs, which = torch.unique(torch.cat(sending), return_inverse=True)
        shares = [edges.shares(types), edges.shares(types), other.shares(types)]
        targets = torch.cat([edges.target + view * drugs for view in range(3)])
        own, place = torch.unique(sending[0], return_inverse=True)
        return cls(
            features=features,
            sparse=_sparse(features),
            permutation=permutation,
            products=_products(features, pairs, types),
            means=_summed(targets, which, torch.cat(shares), (3 * drugs, len(pairs))),
            senders=own % drugs,
            sent=torch.bincount(own // drugs, minlength=types).tolist(),
            gathered=_summed(edges.target, place, shares[0], (drugs, len(own))),
            numbers=_numbers(edges, shares[0], drugs, types),
            numbers_shuffled=_numbers(other, shares[2], drugs, types),
        )


def _sparse(features: Tensor) -> Fixed:
    rows, columns = features.nonzero(as_tuple=True)
    return _summed(rows, columns, features[rows, columns], (features.shape[0], features.shape[1]))


def _products(features: Tensor, pairs: Tensor, types: int) -> Fixed:
    """A row per pair (type, drug): the drug's features in the columns of the type."""
    drugs, width = features.shape
    rows, columns = features.nonzero(as_tuple=True)
    counts = torch.bincount(rows, minlength=drugs)
    starts, drug = counts.cumsum(0) - counts, pairs % drugs
    repeated = torch.repeat_interleave(torch.arange(len(pairs), device=pairs.device), counts[drug])
    first = counts[drug].cumsum(0) - counts[drug]
    entry = starts[drug][repeated] + torch.arange(len(repeated), device=pairs.device) - first[repeated]
    column = columns[entry] + (pairs // drugs)[repeated] * width
    return _summed(repeated, column, features[rows, columns][entry], (len(pairs), types * width))


def _numbers(edges: Edges, shares: Tensor, drugs: int, types: int) -> Fixed:
    return _summed(edges.target, edges.source * types + edges.kind, shares, (drugs, drugs * types))


def _summed(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Fixed:
    """The matrix with these values; those of one place are added up once."""
    places, which = torch.unique(rows * shape[1] + columns, return_inverse=True)
    sums = values.new_zeros(len(places), dtype=torch.float64).index_add_(0, which, values.double())
    return Fixed.of(places // shape[1], places % shape[1], sums, shape)
