"""Decagon's decoder: logits (x_h D_r) G (x_t D_r)^T of pairs with all types, by few large matrix products.

D holds all D_r side by side, [d, T, d]. In a batch each drug meets it once, however many pairs the drug is in,
forwards as backwards; G meets each head once.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from dense_products import product
from torch import Tensor
from torch.nn import functional

# Batches have every number of drugs, and blocks of memory of ever other sizes leave gaps between them: an epoch
# held half as much again. With rows of zeros there are few numbers, and nothing else changes.
_ROWS = 8


def decode(X: Tensor, D: Tensor, G: Tensor, pairs: Tensor) -> Tensor:
    """[B, T] for pairs of rows of X."""
    return cast(Tensor, _Decode.apply(_filled(X), D, G, pairs))  # type: ignore[no-untyped-call]


def decode_all(X: Tensor, D: Tensor, G: Tensor, pairs: Tensor) -> Tensor:
    """The same for many pairs, type by type."""
    drugs = len(X)
    keys, places = torch.unique(pairs[:, 0] * drugs + pairs[:, 1], return_inverse=True)
    starts = torch.searchsorted(keys, torch.arange(drugs + 1, device=X.device) * drugs)
    asked = torch.sparse_csr_tensor(
        starts, keys % drugs, X.new_zeros(len(keys)), (drugs, drugs), check_invariants=False
    )
    logits = X.new_empty(len(keys), D.shape[1])
    for r, D_r in enumerate(D.unbind(1)):
        W = product(X, D_r)
        logits[:, r] = torch.sparse.sampled_addmm(asked, product(W, G), W.T, beta=0.0).values()
    return logits[places]


class _Decode(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, X: Tensor, D: Tensor, G: Tensor, pairs: Tensor) -> Tensor:
        heads, place = torch.unique(pairs[:, 0], return_inverse=True)
        heads, tails = _filled(heads), pairs[:, 1]
        W = product(X, D.flatten(1)).view(len(X), *D.shape[1:])
        U = W.index_select(0, heads)
        UG = product(U.flatten(0, 1), G).view_as(U)
        left, right = UG.index_select(0, place), W.index_select(0, tails)
        context.save_for_backward(X, D, G, heads, place, tails, U, left, right)
        return torch.linalg.vecdot(left, right)

    @staticmethod
    def backward(  # type: ignore[override]
        context: Any, gradient: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, None]:
        X, D, G, heads, place, tails, U, left, right = context.saved_tensors
        each = gradient[:, :, None]
        for_UG = torch.zeros_like(U).index_add_(0, place, each * right).flatten(0, 1)
        for_W = X.new_zeros(len(X), *D.shape[1:]).index_add_(0, tails, each * left)
        for_W.index_add_(0, heads, product(for_UG, G.T).view_as(U))
        flat = for_W.flatten(1)
        for_D = product(X.T, flat).view_as(D)
        return product(flat, D.flatten(1).T), for_D, product(U.flatten(0, 1).T, for_UG), None


def _filled(rows: Tensor) -> Tensor:
    """With zeros below, so that there are few numbers of rows. As indices they name one that is then not used."""
    return functional.pad(rows, (0, 0) * (rows.dim() - 1) + (0, -len(rows) % _ROWS))
