"""What MRCGNN is trained on: the graph of the training items, its two corruptions, and the sum of three losses."""

from __future__ import annotations

import torch
from ddi_sdk import Problem
from ddi_training import Batch, LabelLoss, device, facts, fingerprints
from network import Network
from torch import Tensor
from torch.nn import functional
from views import Edges, Views

# of the losses that tell the true graph from the one with permuted features and from the one with shuffled types
PERMUTED, SHUFFLED = 0.05, 0.1


def views_of(problem: Problem) -> Views:
    """The training graph in both directions, and its corruptions drawn from torch's stream.

    A fact keeps its type in both directions, the shuffled one too.
    """
    heads, tails, kinds = torch.from_numpy(facts(problem.train.pairs, problem.train.labels)).unbind(1)
    edges = torch.cat([heads, tails]), torch.cat([tails, heads]), kinds.repeat(2)
    permutation = torch.randperm(problem.drugs)
    shuffled = kinds[torch.randperm(len(kinds))].repeat(2)
    where = device()
    return Views.of(
        torch.from_numpy(fingerprints(problem)).to(where),
        Edges(*(one.to(where) for one in edges)),
        shuffled.to(where),
        permutation.to(where),
        problem.types,
    )


def loss_of(network: Network, views: Views, labels: LabelLoss, batch: Batch) -> Tensor:
    """The loss of a batch, for which all views are encoded."""
    encoded = network.encode(views)
    truth = torch.tensor([1.0, 0.0], device=encoded.permuted.device).expand_as(encoded.permuted)
    loss = labels(network(encoded, views.features, batch.pairs), batch.target)
    loss = loss + PERMUTED * functional.binary_cross_entropy_with_logits(encoded.permuted, truth)
    return loss + SHUFFLED * functional.binary_cross_entropy_with_logits(encoded.shuffled, truth)
