"""What an epoch learns from: some drugs are hidden, their interactions are examples, and the rest is the graph.

An epoch thereby looks like the setting it is for: in S1 one drug of an example is without any known interaction,
in S2 both are.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from ddi_items import facts
from ddi_sdk import Array, Items


@dataclass(frozen=True)
class Examples:
    """Items to learn from, each with the item that is its negative, or -1."""

    items: Items
    own: Array
    negative: Array

    @classmethod
    def of(cls, items: Items) -> Examples:
        """All items with a type, in their order. A positive line's negative is the next one of the same types."""
        if items.labels.ndim == 1:
            own = np.arange(len(items.labels))
            return cls(items, own, np.full(len(own), -1))
        own = np.flatnonzero((items.labels > 0).any(axis=1))
        waiting: dict[bytes, deque[int]] = defaultdict(deque)
        for row in np.flatnonzero((items.labels < 0).any(axis=1)).tolist():
            waiting[(items.labels[row] != 0).tobytes()].append(row)
        lines = (waiting[(items.labels[row] != 0).tobytes()] for row in own)
        return cls(items, own, np.array([line.popleft() if line else -1 for line in lines], dtype=np.int64))

    def facts(self) -> Array:
        """Interactions (head, tail, type) of all examples."""
        return facts(self.items.pairs[self.own], self.items.labels[self.own])

    def batches(self, size: int) -> Iterator[tuple[Array, Array]]:
        """Pairs and labels of so many examples at a time, unshuffled as in the original; negatives come last."""
        for first in range(0, len(self.own), size):
            some = slice(first, first + size)
            negative = self.negative[some]
            rows = np.concatenate([self.own[some], negative[negative >= 0]])
            yield self.items.pairs[rows], self.items.labels[rows]

    def pairs(self) -> Array:
        """All pairs that the batches have."""
        return self.items.pairs[np.concatenate([self.own, self.negative[self.negative >= 0]])]

    def hiding(self, drugs: Array, count: int) -> tuple[Examples, Examples]:
        """The examples with no hidden drug, and those with so many (1 or 2)."""
        hidden = np.isin(self.items.pairs[self.own], drugs).sum(axis=1)
        none, some = (
            Examples(self.items, self.own[kept], self.negative[kept]) for kept in (hidden == 0, hidden == count)
        )
        return none, some


def drawn_to_hide(items: Items, knowledge: Array, share: float, generator: np.random.Generator) -> Array:
    """So large a share of the training drugs in the knowledge graph (of all, where none is), drawn with
    replacement, so that some are drawn twice and fewer are hidden.
    """
    drugs = np.unique(items.pairs)
    known = np.intersect1d(drugs, knowledge[:, :2])
    known = known if len(known) else drugs
    return generator.choice(known, len(known) - int(len(known) * (1 - share)))
