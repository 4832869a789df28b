"""What SAGAN trains: the labels of the source domain, and representations that don't tell one domain from another.

The source are the training pairs. The target are the pairs of a known and a valid-new drug, without their labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from adversary import Adversary, domain_loss
from ddi_sdk import Problem
from ddi_training import LabelLoss
from drug_pairs import DrugPairs
from torch import Tensor

S1 = 1


class TargetDomain:
    """The target's pairs, repeated to as many as there are training items and shuffled anew for each epoch."""

    def __init__(self, problem: Problem, device: torch.device) -> None:
        seen = problem.valid.setting == S1
        self._pairs = torch.from_numpy(problem.valid.pairs[seen]).to(device)
        self._items = len(problem.train.pairs)
        self._left = self._pairs

    def shuffle(self, epoch: int) -> None:
        """Called before each epoch; a problem without such pairs has no target."""
        if len(self._pairs):
            order = torch.randperm(self._items).to(self._pairs.device)
            self._left = self._pairs[order % len(self._pairs)]

    def take(self, count: int) -> Tensor:
        """The next of them."""
        taken, self._left = self._left[:count], self._left[count:]
        return taken


@dataclass(frozen=True)
class Objective:
    """The loss of labels, and the loss of domains that is added with a weight."""

    pairs: DrugPairs
    adversary: Adversary
    labels: LabelLoss
    multilabel: bool

    def __call__(self, source: Tensor, truth: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Molecules of both domains are encoded together; rows of the target come first."""
        logits, features = self.pairs.judge(torch.cat([target, source]))
        labels = self.labels(logits[len(target) :], truth)
        if not len(target):
            return labels, labels.new_zeros(())
        return labels, domain_loss(self.adversary, features, logits, len(source), multilabel=self.multilabel)
