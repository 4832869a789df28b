"""What a training step sees: examples made from the training items, cut into shuffled batches.

Targets are made when a batch is, so that memory does not grow with items x types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from ddi_items import types_of_pairs
from ddi_sdk import Items
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
