"""What a training step sees: examples made from the training items, cut into shuffled batches.

Targets are made when a batch is, so that memory does not grow with items x types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from ddi_sdk import Array, Items, Problem
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Some examples: pairs [B, 2]; targets [B, types] of 0 and 1 (multiclass) or -1, 0 and 1 (multilabel); their
    positions in the list of examples.
    """

    pairs: Tensor
    target: Tensor
    index: Tensor


@dataclass(frozen=True)
class Examples:
    """All examples: pairs, and either the lines of a multilabel dataset or each pair's type ids, filled up with
    the number of types, which is no type.
    """

    pairs: Tensor
    labels: Tensor
    types: int
    multilabel: bool

    @classmethod
    def of(cls, items: Items, types: int, *, per_pair: bool, device: torch.device) -> Examples:
        """One example per item, or per ordered pair with all its types; lines of a multilabel dataset stay."""
        multilabel = items.labels.ndim == 2
        pairs, labels = items.pairs, items.labels
        if not multilabel:
            pairs, labels = types_of_pairs(pairs, labels, types) if per_pair else (pairs, labels[:, None])
        dtype = np.int8 if multilabel else np.int64
        given = (
            torch.from_numpy(np.array(pairs, dtype=np.int64)),
            torch.from_numpy(np.array(labels, dtype=dtype)),
        )
        return cls(*(one.to(device) for one in given), types, multilabel)

    def batch(self, index: Tensor) -> Batch:
        """The examples at these positions."""
        pairs, labels = self.pairs[index], self.labels[index]
        if self.multilabel:
            return Batch(pairs, labels.float(), index)
        target = torch.zeros(len(index), self.types + 1, device=pairs.device).scatter_(1, labels, 1.0)
        return Batch(pairs, target[:, : self.types], index)

    def shuffled(self, size: int, *, drop_last: bool) -> Iterator[Batch]:
        """Each example once, in an order from torch's stream; an incomplete last batch is dropped if there is
        another one.
        """
        batches = torch.randperm(len(self.pairs)).to(self.pairs.device).split(size)
        if drop_last and len(batches) > 1 and len(batches[-1]) < size:
            batches = batches[:-1]
        return map(self.batch, batches)


def types_of_pairs(pairs: Array, labels: Array, types: int) -> tuple[Array, Array]:
    """Distinct ordered pairs, and a row of types for each, ascending and filled up with the number of types."""
    order = np.lexsort((labels, pairs[:, 1], pairs[:, 0]))
    pairs, labels = pairs[order], labels[order]
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    rows = np.cumsum(new) - 1
    places = np.arange(len(pairs)) - starts[rows]
    padded = np.full((len(starts), int(places.max(initial=0)) + 1), types, dtype=np.int64)
    padded[rows, places] = labels
    return pairs[starts], padded


def without_contradictions(problem: Problem) -> Problem:
    """Multilabel: a training line is no negative of a type that a training line says its pair has, in any order.

    Other problems stay as they are.
    """
    if not problem.multilabel:
        return problem
    low, high = np.sort(problem.train.pairs, axis=1).astype(np.int64).T
    pairs, places = np.unique(low * problem.drugs + high, return_inverse=True)
    has = np.zeros((len(pairs), problem.types), dtype=bool)
    rows, types = np.nonzero(problem.train.labels > 0)
    has[places[rows], types] = True
    labels = problem.train.labels.copy()
    labels[(labels < 0) & has[places]] = 0
    return replace(problem, train=replace(problem.train, labels=labels))
