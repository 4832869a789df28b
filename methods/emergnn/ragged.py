"""Rows of different length, kept one after another: where their elements lie, without a loop over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def starts_of(keys: Array, rows: int) -> Array:
    """Where each row begins, and at last where all end, if the elements are sorted by the key of their row."""
    return np.searchsorted(keys, np.arange(rows + 1))


def elements(starts: Array, rows: Array) -> tuple[Array, Array]:
    """The places of all elements of these rows, row by row, and for each the place of its row among `rows`."""
    first, lengths = starts[rows], starts[rows + 1] - starts[rows]
    owner = np.repeat(np.arange(len(rows)), lengths)
    return np.arange(len(owner)) + np.repeat(first - np.cumsum(lengths) + lengths, lengths), owner


def changes(keys: Array) -> Array:
    """Where in a sorted list a new value begins."""
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return np.flatnonzero(new)
