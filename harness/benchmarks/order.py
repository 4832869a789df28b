"""The order in which a run finds drugs, diseases and items: a secret of its own, undone when its answer is taken.

The published seeds of splits are known to everybody, and a stratified draw goes through the pairs in their
published order: mask, training labels and order together tell the test labels. So a run is handed its items in an
order that follows from a random secret. The secret is in the run's record: once the container has ended, anybody
can make the same inputs again.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.input_files import Given
from harness.base.npy import npy_bytes

# The order of the dataset and of the split file.
PUBLISHED = ""
_SECRET_BYTES = 16

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Arrangement:
    """Inputs in some order, and for each file of the answer the way back to the published one.

    A file of numbers (.npy) is taken back as an array, any other as its lines.
    """

    inputs: Mapping[str, Given]
    restore: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def restore_files(self, folder: Path) -> None:
        """Rewrite the files of a valid answer in the published order; those that are in it stay untouched."""
        for name, in_published_order in self.restore.items():
            path = folder / name
            if not path.is_file():
                continue
            if path.suffix == ".npy":
                path.write_bytes(npy_bytes(in_published_order(np.load(path))))
            else:
                path.write_bytes(b"".join(in_published_order(path.read_bytes().splitlines(keepends=True))))


def new_order() -> str:
    """The secret of one run."""
    return secrets.token_hex(_SECRET_BYTES)


def permutation(order: str, axis: str, count: int) -> Integers:
    """Which of `count` things comes first, second, and so on.

    Drawn from SHAKE-256 and not from a library's generator: a secret must mean the same order in years.
    """
    stream = hashlib.shake_256(f"{order} {axis}".encode()).digest(8 * count)
    return np.argsort(np.frombuffer(stream, dtype="<u8"), kind="stable")


def places_of(order: Integers) -> Integers:
    """Where each thing went: the inverse of a permutation."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
