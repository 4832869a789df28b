"""Sparse matrices that no step changes: built once, multiplied often, with gradients for the dense factor alone.

The transpose is kept beside the matrix, so that a gradient is a product by rows too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

# torch says once that such matrices are in beta state
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.eye(1).to_sparse_csr()


@dataclass(frozen=True)
class Fixed:
    """A sparse matrix and its transpose."""

    matrix: Tensor
    transposed: Tensor

    @classmethod
    def of(cls, rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Fixed:
        """The matrix of these elements, in any order; those of one place are added in every product anew."""
        flipped = _compressed(columns, rows, values, (shape[1], shape[0]))
        return cls(_compressed(rows, columns, values, shape), flipped)

    @property
    def turned(self) -> Fixed:
        """The transpose, which is what gradients take."""
        return Fixed(self.transposed, self.matrix)

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
    # `@` makes the result three times over, which for large ones takes longer than the product
    return dense.new_empty(matrix.shape[0], dense.shape[1]).addmm_(matrix, dense, beta=0.0)


def _compressed(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Compressed rows, with the short indices that the fast kernels want."""
    if not bool((rows[1:] >= rows[:-1]).all()):
        order = torch.argsort(rows, stable=True)
        columns, values = columns[order], values[order]
    starts = rows.new_zeros(shape[0] + 1, dtype=torch.int32)
    torch.cumsum(torch.bincount(rows, minlength=shape[0]), 0, out=starts[1:])
    return torch.sparse_csr_tensor(starts, columns.int(), values.float(), shape, check_invariants=False)
