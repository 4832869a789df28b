"""The losses that several methods share, computed as the original trainer computes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from ddi_sdk import Array
from torch import Tensor
from torch.nn import functional

LabelLoss = Callable[[Tensor, Tensor], Tensor]


def bce_of_softmax(logits: Tensor, target: Tensor) -> Tensor:
    """Multiclass: binary cross entropy between softmax(logits) and the targets, mean over batch x types."""
    return functional.binary_cross_entropy(functional.softmax(logits, dim=1), target)


def weighted_bce(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Multilabel: binary cross entropy of sigmoid(logits) where the target is not 0, mean over batch x types.

    Entries of which the line says nothing add 0 to the mean. The weights are of double precision, so the loss is.
    """
    chances = torch.sigmoid(logits) * (target != 0)
    return (weight * functional.binary_cross_entropy(chances, (target > 0).float(), reduction="none")).mean()


def type_weights(labels: Array) -> Tensor:
    """min_k occ_k / occ_j, where occ_j counts the training lines that say anything of type j.

    A type of which no line says anything weighs nothing and is no minimum.
    """
    occurrences = np.count_nonzero(labels, axis=0).astype(np.float64)
    seen = occurrences > 0
    weights = np.zeros_like(occurrences)
    weights[seen] = occurrences[seen].min(initial=np.inf) / occurrences[seen]
    return torch.from_numpy(weights)


def label_loss(weight: Tensor | None, multiclass: LabelLoss = bce_of_softmax) -> LabelLoss:
    """The loss of logits and targets: of a multilabel dataset where there are weights of types."""
    return multiclass if weight is None else partial(weighted_bce, weight=weight)
