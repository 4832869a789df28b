"""Texts as the numbers of their letters: of a fixed length, filled up with 0, which is no letter."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

# J stands for no residue
RESIDUES = "ABCDEFGHIKLMNOPQRSTUVWXYZ"


def letter_numbers(texts: Sequence[str], alphabet: str, length: int, what: str) -> npt.NDArray[np.int64]:
    """One row per text: 1 for the alphabet's first letter. What lies behind `length` is cut off.

    A letter that the alphabet lacks counts as none, like the filling; a warning says of how many texts.
    """
    numbers = {letter: place for place, letter in enumerate(alphabet, start=1)}
    rows = np.zeros((len(texts), length), dtype=np.int64)
    strange = []
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = [numbers.get(letter, 0) for letter in text[:length]]
        if unknown := sorted(set(text[:length]) - set(alphabet)):
            strange.append(f"{text[:40]!r} ({' '.join(unknown)})")
    if strange:
        warnings.warn(
            f"{len(strange)} {what} have letters that the method does not know, the first begins {strange[0]}: "
            "these count as no letter",
            stacklevel=2,
        )
    return rows
