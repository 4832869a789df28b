"""Matrices that are mostly zero, kept as the entries of their rows that are not, and their products."""

from __future__ import annotations

import numpy as np
import torch
from ddi_sdk import Array
from torch import Tensor, nn
from torch.nn import functional


class SparseRows(nn.Module):
    """A fixed matrix; part of a network, so that it moves with it, but of no state of it."""

    def __init__(self, rows: Array, columns: Array, values: Array, shape: tuple[int, int]) -> None:
        """Entries in any order. Several at one place add up."""
        super().__init__()
        order = np.argsort(rows, kind="stable")
        starts = np.searchsorted(rows[order], np.arange(shape[0] + 1))
        self.shape = shape
        for name, array in (
            ("starts", starts),
            ("columns", columns[order]),
            ("values", values[order].astype(np.float32)),
        ):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)

    @classmethod
    def of(cls, matrix: Array) -> SparseRows:
        """The entries of a matrix that are not zero."""
        rows, columns = np.nonzero(matrix)
        return cls(rows, columns, matrix[rows, columns], matrix.shape)

    def times(self, right: Tensor) -> Tensor:
        """All rows times a matrix."""
        return _sums(right, self.columns, self.starts[:-1], self.values)

    def rows_times(self, ids: Tensor, right: Tensor) -> Tensor:
        """Some rows times a matrix. For lines of several ids: their rows, one beside the other, times a matrix."""
        width = ids[0].numel()
        flat = ids.reshape(-1)
        first, lengths = self.starts[flat], self.starts[flat + 1] - self.starts[flat]
        ends = lengths.cumsum(0)
        total = int(ends[-1])
        # where each entry lies, and which of the rows side by side it belongs to
        entries = torch.repeat_interleave(first - (ends - lengths), lengths, output_size=total)
        entries += torch.arange(total, device=ids.device)
        shifts = torch.arange(width, device=ids.device).repeat(len(ids)) * self.shape[1]
        columns = self.columns[entries] + torch.repeat_interleave(shifts, lengths, output_size=total)
        return _sums(right, columns, (ends - lengths)[::width], self.values[entries])


def _sums(right: Tensor, columns: Tensor, starts: Tensor, values: Tensor) -> Tensor:
    return functional.embedding_bag(columns, right, starts, mode="sum", per_sample_weights=values)
