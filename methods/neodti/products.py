"""Products with matrices that no step changes, and of pairs of rows, at the cost of the cells that matter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
from dense_products import multiply
from dti_sdk import Array
from networks import Network
from sparse_products import Fixed
from torch import Tensor

# a matrix with more of its cells filled is multiplied as a dense one
SPARSE = 0.1


@dataclass(frozen=True)
class Matrix:
    """A network on a device, as its density wants it; `squares` is the sum of its squared cells."""

    content: Fixed | Tensor
    shape: tuple[int, int]
    squares: float

    @classmethod
    def of(cls, network: Network, device: torch.device) -> Matrix:
        """In single precision."""
        squares = float(np.square(network.values).sum())
        if len(network.values) >= SPARSE * network.shape[0] * network.shape[1]:
            return cls(torch.tensor(network.dense, dtype=torch.float32, device=device), network.shape, squares)
        places = (torch.tensor(one, device=device) for one in (network.rows, network.columns))
        values = torch.tensor(network.values, dtype=torch.float32, device=device)
        return cls(Fixed.of(*places, values, network.shape), network.shape, squares)

    def times(self, dense: Tensor) -> Tensor:
        """The product with a dense matrix."""
        return self.content.times(dense) if isinstance(self.content, Fixed) else multiply(self.content, dense)


@dataclass(frozen=True)
class Heard:
    """What receivers hear over a network: weights of those senders that anyone hears."""

    senders: Tensor
    weights: Matrix

    @classmethod
    def of(cls, network: Network, device: torch.device) -> Heard:
        """The same from the weights of all senders."""
        senders, columns = np.unique(network.columns, return_inverse=True)
        few = replace(network, columns=columns, shape=(network.shape[0], len(senders)))
        return cls(torch.tensor(senders, device=device), Matrix.of(few, device))

    def vectors(self, of_all: Tensor) -> Tensor:
        """Those of these senders."""
        return of_all if len(self.senders) == len(of_all) else of_all[self.senders]


def squared_error(left: Tensor, right: Tensor, truth: Matrix) -> Tensor:
    """|left right' - truth|^2 over all cells, without making them where that is cheaper."""
    rows, columns = truth.shape
    if (rows + columns) * left.shape[1] >= rows * columns:
        return _all_cells(left, right, truth)
    # the parts nearly cancel when the fit is good
    gram = (multiply(left.T, left) * multiply(right.T, right)).sum(dtype=torch.float64)
    return gram - 2 * (left * truth.times(right)).sum(dtype=torch.float64) + truth.squares


def _all_cells(left: Tensor, right: Tensor, truth: Matrix) -> Tensor:
    dense = truth.content.matrix.to_dense() if isinstance(truth.content, Fixed) else truth.content
    return (multiply(left, right.T) - dense).square().sum()


@dataclass(frozen=True)
class Cells:
    """Some cells of a matrix as they are asked for, and how they lie by rows and by columns."""

    rows: Tensor
    columns: Tensor
    by_row: _Order
    by_column: _Order

    @classmethod
    def of(cls, pairs: Array, shape: tuple[int, int], device: torch.device) -> Cells:
        """The cells of pairs (row, column)."""
        rows, columns = torch.as_tensor(pairs, dtype=torch.int64, device=device).T.contiguous()
        turned = (columns, rows, (shape[1], shape[0]))
        return cls(rows, columns, _Order.of(rows, columns, shape), _Order.of(*turned))

    def of_product(self, left: Tensor, right: Tensor) -> Tensor:
        """These cells of left right'."""
        return cast(Tensor, _Cells.apply(left, right, self))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class _Order:
    """Cells as a compressed sparse matrix keeps them."""

    order: Tensor
    starts: Tensor
    places: Tensor
    shape: tuple[int, int]

    @classmethod
    def of(cls, rows: Tensor, columns: Tensor, shape: tuple[int, int]) -> _Order:
        order = torch.argsort(rows, stable=True)
        starts = rows.new_zeros(shape[0] + 1, dtype=torch.int32)
        torch.cumsum(torch.bincount(rows, minlength=shape[0]), 0, out=starts[1:])
        return cls(order, starts, columns[order].int(), shape)

    def times(self, values: Tensor, dense: Tensor) -> Tensor:
        """The matrix with these values, times a dense one."""
        matrix = torch.sparse_csr_tensor(
            self.starts, self.places, values[self.order], self.shape, check_invariants=False
        )
        return dense.new_empty(self.shape[0], dense.shape[1]).addmm_(matrix, dense, beta=0.0)


# as many products of rows at once as a cache holds
_ROWS = 4096


class _Cells(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, left: Tensor, right: Tensor, cells: Cells) -> Tensor:
        context.save_for_backward(left, right)
        context.cells = cells
        parts = zip(cells.rows.split(_ROWS), cells.columns.split(_ROWS), strict=True)
        return torch.cat([torch.linalg.vecdot(left[rows], right[columns]) for rows, columns in parts])

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[override]
        left, right = context.saved_tensors
        cells: Cells = context.cells
        return cells.by_row.times(gradient, right), cells.by_column.times(gradient, left), None
