"""Steps of training, and scores of many pairs: what the training of a setting and the golden cases both run."""

from __future__ import annotations

import numpy as np
import torch
from ddi_sdk import Array
from ddi_training import step
from examples import Examples
from network import Network
from routes import Routes
from torch import Tensor
from torch.nn import functional
from torch.optim import Adam

# pairs scored together, few enough that what they need stays in the processor's cache
_TOGETHER = 64


def optimiser(network: Network, learning_rate: float, weight_decay: float) -> Adam:
    """Adam whose weight decay is part of the gradient."""
    trained = [one for one in network.parameters() if one.requires_grad]
    return Adam(trained, lr=learning_rate, weight_decay=weight_decay, fused=True)


def loss_of(logits: Tensor, labels: Array, *, repeated: bool) -> Tensor:
    """One type per pair: cross entropy, summed, and `repeated` as often as there are pairs. Lines: binary cross
    entropy, mean over what the lines say.

    The published code adds a column to a row, so that each pair's loss is summed once for every pair of the batch.
    """
    given = torch.from_numpy(labels)
    if labels.ndim == 1:
        loss = functional.cross_entropy(logits, given.long(), reduction="sum")
        return loss * len(labels) if repeated else loss
    said = given != 0
    return functional.binary_cross_entropy(torch.sigmoid(logits[said]), (given[said] > 0).float())


def learn(
    network: Network, routes: Routes, examples: Examples, adam: Adam, *, batch_size: int, repeated: bool
) -> list[float]:
    """One epoch: the loss of every batch before its step."""
    losses: list[float] = []
    for pairs, labels in examples.batches(batch_size):
        logits = network(torch.from_numpy(pairs), routes.batch(pairs))
        losses.append(float(step(loss_of(logits, labels, repeated=repeated), adam)))
    return losses


def scores_of(network: Network, routes: Routes, pairs: Array) -> Array:
    """Logits of all types for every pair; each distinct pair is scored once."""
    distinct, places = np.unique(pairs, axis=0, return_inverse=True)
    network.eval()
    with torch.no_grad():
        found = [
            network(torch.from_numpy(some), routes.batch(some))
            for some in np.split(distinct, range(_TOGETHER, len(distinct), _TOGETHER))
        ]
    scores: Array = torch.cat(found).numpy()
    return scores[places.reshape(-1)]
