"""Batches of users and items, drawn number by number as NumPy's legacy generator draws them for the original.

The original asks NumPy for each item by itself, and that takes most of its time. What such a call does is simple:
it takes 32-bit words, looks at as many low bits as the largest allowed number has, and rejects what is larger;
where one number alone is allowed it takes no word. So which words are rejected is put into tables beforehand. As
many words are read at once as items are still to be drawn: each needs at least one, so none is read too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.intp]


class Sampler:
    """Draws batches of users who have the items that are true in R (users x items)."""

    def __init__(self, R: npt.NDArray[np.bool_], seed: int) -> None:
        if R.all(axis=1).any():
            raise ValueError("a disease has a label with every drug: there is no other drug to draw for it")
        # the same generator twice: numbers as NumPy makes them, and the words they are made of
        self._bits = np.random.MT19937()
        self._bits.state = np.random.RandomState(seed).get_state(legacy=False)
        self._stream = np.random.RandomState(self._bits)
        self._n_users, n_items = R.shape
        self._mask = _mask(n_items)
        counts = np.count_nonzero(R, axis=1)
        # the items of all users, one user after the other; item 0 for those who have none
        self._items = np.append(np.nonzero(R)[1], 0)
        self._first = np.where(counts > 0, np.cumsum(counts) - counts, len(self._items) - 1)
        self._masks = np.array([_mask(count) for count in counts.tolist()])
        self._drawn = np.stack([counts > 1, counts > 0], axis=1)
        # byte w of a table says whether word w is accepted
        words = np.arange(self._mask + 1)
        owned = {count: ((words & _mask(count)) < count).tobytes() for count in set(counts.tolist())}
        others = np.pad(~R, ((0, 0), (0, len(words) - n_items)))
        self._tables = [
            ([owned[count]] if count > 1 else []) + ([row.tobytes()] if count > 0 else [])
            for count, row in zip(counts.tolist(), others, strict=True)
        ]

    def batch(self, size: int) -> tuple[Indices, Indices, Indices]:
        """Distinct users; for each an item the user has and one not. Both are 0 for users who have none."""
        # what choice(replace=False) does
        users = self._stream.permutation(self._n_users)[:size]
        words = np.zeros((size, 2), dtype=np.intp)
        words[self._drawn.take(users, axis=0)] = self._draw([self._tables[user] for user in users.tolist()])
        places = self._first.take(users) + (words[:, 0] & self._masks.take(users))
        return users, self._items.take(places), words[:, 1]

    def _draw(self, tables: list[list[bytes]]) -> list[int]:
        """For each table the first word that it accepts."""
        drawn: list[int] = []
        count = sum(map(len, tables))

        def read() -> Iterator[list[int]]:
            while True:
                yield (self._bits.random_raw(count - len(drawn)) & self._mask).tolist()

        next_word = chain.from_iterable(read()).__next__
        for table in chain.from_iterable(tables):
            word = next_word()
            while not table[word]:
                word = next_word()
            drawn.append(word)
        return drawn


def _mask(count: int) -> int:
    """As many low bits as the largest number below `count` has."""
    return (1 << (count - 1).bit_length()) - 1
