"""Batches of users and items, drawn number by number as NumPy's legacy generator draws them for the original.

The original asks NumPy for each item by itself, and that takes most of its time. What such a call does is simple: it
takes 32-bit words, looks at as many low bits as the largest allowed number has, and rejects what is larger; where only
one number is allowed it takes no word. So whatever a word may lead to is written into tables beforehand. As many words
are read at once as items are still to be drawn: each needs at least one, so that no word is read too many.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.intp]
Table = Sequence[int]

_REJECTED = -1  # any negative number: tables hold items


class Sampler:
    """Draws from `stream` batches of users who have the items that are true in R (users x items)."""

    def __init__(self, R: npt.NDArray[np.bool_], stream: np.random.RandomState) -> None:
        if R.all(axis=1).any():
            raise ValueError("a disease has a label with every drug: there is no other drug to draw for it")
        self._stream = stream
        self._n_users, n_items = R.shape
        self._words = np.arange(_mask(n_items) + 1, dtype=np.int32)
        owned = [np.flatnonzero(row) for row in R]
        self._tables = [self._tables_of(items, n_items) for items in owned]
        self._drawn = np.array([[len(items) > 1, len(items) > 0] for items in owned])
        self._fixed = np.array([[items[0] if len(items) == 1 else 0, 0] for items in owned], dtype=np.intp)

    def batch(self, size: int) -> tuple[Indices, Indices, Indices]:
        """Distinct users; for each an item the user has and one not. Both are 0 for users who have none."""
        # what choice(replace=False) does
        users = self._stream.permutation(self._n_users)[:size]
        items = self._fixed.take(users, axis=0)
        tables = chain.from_iterable([self._tables[user] for user in users.tolist()])
        items[self._drawn.take(users, axis=0)] = self._draw(list(tables))
        return users, items[:, 0], items[:, 1]

    def _draw(self, tables: list[Table]) -> list[int]:
        """Of each table the first entry that is not rejected."""
        drawn: list[int] = []

        def read() -> Iterator[list[int]]:
            while True:
                yield self._stream.randint(len(self._words), size=len(tables) - len(drawn), dtype=np.uint32).tolist()

        next_word = chain.from_iterable(read()).__next__
        for table in tables:
            entry = table[next_word()]
            while entry < 0:
                entry = table[next_word()]
            drawn.append(entry)
        return drawn

    def _tables_of(self, items: Indices, n_items: int) -> tuple[Table, ...]:
        """What a word leads to when an item is drawn that the user has, and then one that the user has not."""
        if not len(items):
            return ()
        others = np.where(self._words < n_items, self._words, np.int32(_REJECTED))
        others[items] = _REJECTED
        if len(items) == 1:
            return (array("i", others.tobytes()),)
        places = np.full(_mask(len(items)) + 1, _REJECTED, dtype=np.int32)
        places[: len(items)] = items
        return array("i", np.tile(places, len(others) // len(places)).tobytes()), array("i", others.tobytes())


def _mask(count: int) -> int:
    """As many low bits as the largest number below `count` has."""
    return (1 << (count - 1).bit_length()) - 1
