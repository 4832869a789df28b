"""Sums of rows with fixed counts, as products with a sparse matrix; gradients take its transposed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from ragged import Array
from torch import Tensor

# torch says once that such matrices are in beta state
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.eye(1).to_sparse_csr()


@dataclass(frozen=True)
class Sums:
    """Row i of the result is the sum of count x row j over all elements (i, j, count)."""

    matrix: Tensor
    transposed: Tensor

    @classmethod
    def of(cls, rows: Array, columns: Array, counts: Array, shape: tuple[int, int]) -> Sums:
        """From elements in any order."""
        values = torch.from_numpy(np.asarray(counts, dtype=np.float32))
        row, column = (torch.from_numpy(np.asarray(one, dtype=np.int32)) for one in (rows, columns))
        return cls(_compressed(row, column, values, shape), _compressed(column, row, values, shape[::-1]))

    @classmethod
    def picking(cls, places: Array, size: int) -> Sums:
        """Row i of the result is row `places[i]` of so many."""
        return cls.of(np.arange(len(places)), places, np.ones(len(places)), (len(places), size))

    @property
    def turned(self) -> Sums:
        """What gradients take; of `picking`, the sum of all rows that are picked from the same place."""
        return Sums(self.transposed, self.matrix)

    def __call__(self, given: Tensor) -> Tensor:
        return cast(Tensor, _Product.apply(given, self))  # type: ignore[no-untyped-call]


def _compressed(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    if not bool((rows[1:] >= rows[:-1]).all()):
        order = torch.argsort(rows, stable=True)
        columns, values = columns[order], values[order]
    starts = torch.zeros(shape[0] + 1, dtype=torch.int32)
    torch.cumsum(torch.bincount(rows, minlength=shape[0]), 0, out=starts[1:])
    return torch.sparse_csr_tensor(starts, columns, values, shape, check_invariants=False)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, given: Tensor, sums: Sums) -> Tensor:
        context.sums = sums
        return sums.matrix @ given

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return context.sums.transposed @ gradient, None
