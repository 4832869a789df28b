"""Sparse matrices that no step changes: built once, multiplied often, with gradients for the dense factor alone.

The transpose is kept beside the matrix, so that a gradient is a product by rows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor


@dataclass(frozen=True)
class Fixed:
    """A sparse matrix and its transpose."""

    matrix: Tensor
    transposed: Tensor

    @classmethod
    def of(cls, rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Fixed:
        """The matrix with these values; values of one place add up."""
        flipped = _compressed(columns, rows, values, (shape[1], shape[0]))
        return cls(_compressed(rows, columns, values, shape), flipped)

    def times(self, dense: Tensor) -> Tensor:
        """The product with a dense matrix."""
        return cast(Tensor, _Product.apply(dense, self))  # type: ignore[no-untyped-call]


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, dense: Tensor, fixed: Fixed) -> Tensor:
        context.fixed = fixed
        return _product(fixed.matrix, dense)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return _product(context.fixed.transposed, gradient), None


def _product(matrix: Tensor, dense: Tensor) -> Tensor:
    # `@` makes the result three times over, which for the weights of all types takes longer than the product
    return dense.new_empty(matrix.shape[0], dense.shape[1]).addmm_(matrix, dense, beta=0.0)


def _compressed(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Compressed rows, with the short indices that the fast kernels want."""
    places = rows * shape[1] + columns
    places, which = torch.unique(places, return_inverse=True)
    summed = values.new_zeros(len(places), dtype=torch.float64).index_add_(0, which, values.double())
    counts = torch.bincount(places // shape[1], minlength=shape[0])
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    indices = starts.int(), (places % shape[1]).int()
    return torch.sparse_csr_tensor(*indices, summed.float(), shape, check_invariants=False)
