"""What MSTE learns from: a triplet that is so, beside one that is not.

Multiclass: the same pair with another type, drawn anew each time. Multilabel: another pair that is said not to
have the type.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from ddi_sdk import Items, Problem
from ddi_training import Batch, type_weights
from network import Network
from torch import Tensor
from torch.nn import functional


def opposed(gamma: float, positive: Tensor, negative: Tensor, weight: Tensor | float = 1.0) -> Tensor:
    """softplus of the weighed gamma + s_negative - s_positive, mean."""
    return functional.softplus((gamma + negative - positive) * weight).mean()


@dataclass(frozen=True)
class OtherTypes:
    """Multiclass: each ordered pair with the first type it has in training, against any other type."""

    items: Items
    own: Tensor
    types: int

    @classmethod
    def of(cls, problem: Problem, where: torch.device) -> OtherTypes:
        """Further types of a pair are not learned from: the published code takes one."""
        train = problem.train
        rows = np.sort(np.unique(train.pairs, axis=0, return_index=True)[1])
        kept = Items(train.pairs[rows], train.labels[rows], train.setting[rows])
        return cls(kept, torch.from_numpy(kept.labels.astype(np.int64)).to(where), problem.types)

    def loss(self, network: Network, batch: Batch) -> Tensor:
        """The other type is drawn from all but the pair's own with equal chances."""
        own = self.own[batch.index]
        other = torch.randint_like(own, self.types - 1)
        other += other >= own
        positive, negative = network(batch.pairs, torch.stack([own, other], dim=1)).unbind(1)
        return opposed(network.gamma, positive, negative)


@dataclass(frozen=True)
class OtherPairs:
    """Multilabel: each type of a positive line, against a pair that stands for the absence of this type."""

    items: Items
    types: Tensor
    against: Tensor
    weight: Tensor

    @classmethod
    def of(cls, problem: Problem, where: torch.device) -> OtherPairs:
        """The i-th positive of a type meets its i-th negative: neighbours, where lines come in couples.

        If there are fewer negatives they are met again; positives of a type that has none are not learned from.
        """
        train, met = problem.train, []
        for j, said in enumerate(train.labels.T):
            positive, negative = np.flatnonzero(said > 0), np.flatnonzero(said < 0)
            if len(positive) and len(negative):
                met.append(np.stack([positive, np.full_like(positive, j), np.resize(negative, len(positive))]))
        if not met:
            raise ValueError(
                f"none of the {problem.types} types has both positives and negatives in the {len(train.labels)} "
                "training lines, and MSTE learns from one beside the other: give it a split or data where one has"
            )
        rows, types, against = np.concatenate(met, axis=1)
        kept = Items(train.pairs[rows], types.astype(np.int32), train.setting[rows])
        given = (torch.from_numpy(one).to(where) for one in (types, train.pairs[against]))
        return cls(kept, *given, type_weights(train.labels).to(where))

    def loss(self, network: Network, batch: Batch) -> Tensor:
        """Weighed by type; no dropout for the pairs that stand against."""
        types = self.types[batch.index][:, None]
        positive = network(batch.pairs, types)
        negative = network(self.against[batch.index], types, dropout=False)
        return opposed(network.gamma, positive, negative, self.weight[types])
