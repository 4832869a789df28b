"""A matrix out of a pickle of Python 2. No class that the file names is ever called: a pickle can run any program.

What numpy pickled is taken apart: records of their state stand in for its classes, other names are refused.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData

# numpy's data types of numbers, as its pickles write them
_NUMBERS = {b"f8": "f8", b"f4": "f4"}


class _State:
    """The arguments and the state of an object that is never made."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: Any) -> None:
        self.state = state if isinstance(state, tuple) else ()


class _Array(_State):
    """A numpy array."""


class _Type(_State):
    """A numpy data type."""


class _Reader(pickle.Unpickler):
    """Only names of numpy's arrays have a meaning."""

    def find_class(self, module: str, name: str) -> Any:
        stand_ins = {"_reconstruct": _Array, "ndarray": "ndarray", "dtype": _Type}
        if module not in ("numpy", "numpy.core.multiarray") or name not in stand_ins:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which is no part of a numpy array")
        return stand_ins[name]


def read_matrix(path: Path) -> npt.NDArray[np.float64]:
    """The one matrix of numbers in a pickle, or `CorruptData`."""
    try:
        with path.open("rb") as stream:
            return _matrix(_Reader(stream, encoding="bytes").load())
    except _UNREADABLE as error:
        raise CorruptData(
            f"not a pickled matrix of numbers: {error}", where=str(path), todo="restore the original file"
        ) from None


# what the reader raises over bytes that are no pickle, and `_matrix` over one of something else
_UNREADABLE = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
)


def _matrix(content: Any) -> npt.NDArray[np.float64]:
    _, (rows, columns), kind, by_columns, data = content.state
    (name, *_), order = kind.arguments, kind.state[1]
    if type(content) is not _Array or type(kind) is not _Type:
        raise ValueError("it holds something else")
    numbers = np.frombuffer(data, dtype=order.decode() + _NUMBERS[name])
    return numbers.reshape((rows, columns), order="F" if by_columns else "C").astype(np.float64)
