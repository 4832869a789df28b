"""What MRCGNN is trained on: the graph of the training items, its two corruptions, and the sum of three losses."""

from __future__ import annotations

from typing import Any

import torch
from ddi_sdk import Case, Problem
from ddi_training import (
    Batch,
    LabelLoss,
    device,
    facts,
    fingerprints,
    golden_adamw,
    golden_loss,
    golden_target,
    load_golden,
    replay,
)
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


def parity(case: Case) -> dict[str, Any]:
    """Answers without dropout of the original's weights, and three steps from them."""
    given = {name: torch.from_numpy(one) for name, one in case.arrays.items() if not isinstance(one, list)}
    features, target, labels = given["in/feat"], golden_target(case), golden_loss(case)
    types, *widths = given["param/encoder_o2.weight"].shape
    hidden = tuple(len(given[f"param/mlp.{layer}.bias"]) for layer in (0, 3))
    network = Network(features.shape[1], types, dropout=0.0, head_dropout=0.0, widths=tuple(widths), hidden=hidden)
    load_golden(network, case)
    edges = Edges(*given["in/edge_index"], given["in/edge_type"])
    views = Views.of(features, edges, given["in/edge_type_shuffled"], given["in/perm"], types)
    batch = Batch(torch.stack([given["in/head"], given["in/tail"]], dim=1), target, torch.arange(len(target)))
    network.eval()
    with torch.no_grad():
        encoded = network.encode(views)
        found = {
            "out/logits": network(encoded, features, batch.pairs),
            "out/ret_os": encoded.permuted,
            "out/ret_os_a": encoded.shuffled,
            "out/x2_os": encoded.second,
            "out/loss_eval": loss_of(network, views, labels, batch),
        }
    return found | replay(network, lambda: loss_of(network, views, labels, batch), golden_adamw(network, case))
