"""What MRCGNN is trained on: the graph of the training items, its two corruptions, and the sum of three losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from ddi_sdk import Array, Case, Items, Problem
from ddi_training import Batch, adamw, bce_of_softmax, device, replay, weighted_bce
from network import Network
from torch import Tensor
from torch.nn import functional
from views import Edges, Views

# of the losses that tell the true graph from the one with permuted features and from the one with shuffled types
PERMUTED, SHUFFLED = 0.05, 0.1
# of the goldens
REPLAYED = {"learning_rate": 1e-3, "weight_decay": 1e-5}

Labels = Callable[[Tensor, Tensor], Tensor]


def facts(items: Items) -> tuple[Array, Array]:
    """Ordered pairs and types, one of each per fact; a negative line of several types is none."""
    if items.labels.ndim == 1:
        return items.pairs, items.labels.astype(np.int64)
    lines, kinds = np.nonzero(items.labels > 0)
    return items.pairs[lines], kinds


def views_of(problem: Problem) -> Views:
    """The training graph in both directions, and its corruptions drawn from torch's stream.

    A fact keeps its type in both directions, the shuffled one too.
    """
    features = problem.inputs["fingerprints"]
    if problem.parameters["fingerprint"] == "bits":
        features = np.asarray(features) > 0
    pairs, kinds = (torch.from_numpy(one) for one in facts(problem.train))
    heads, tails = pairs.unbind(1)
    edges = torch.cat([heads, tails]), torch.cat([tails, heads]), kinds.repeat(2)
    permutation = torch.randperm(problem.drugs)
    shuffled = kinds[torch.randperm(len(kinds))].repeat(2)
    given = torch.from_numpy(np.asarray(features, dtype=np.float32))
    where = device()
    return Views.of(
        given.to(where),
        Edges(*(one.to(where) for one in edges)),
        shuffled.to(where),
        permutation.to(where),
        problem.types,
    )


def labels_of(weight: Tensor | None) -> Labels:
    """The loss of the pairs' types: with weights that of several types at once."""
    if weight is None:
        return bce_of_softmax
    return lambda logits, target: weighted_bce(logits, target, weight)


def loss_of(network: Network, views: Views, labels: Labels, batch: Batch) -> Tensor:
    """The loss of a batch, for which all views are encoded."""
    encoded = network.encode(views)
    truth = torch.tensor([1.0, 0.0], device=encoded.permuted.device).expand_as(encoded.permuted)
    loss = labels(network(encoded, views.features, batch.pairs), batch.target)
    loss = loss + PERMUTED * functional.binary_cross_entropy_with_logits(encoded.permuted, truth)
    return loss + SHUFFLED * functional.binary_cross_entropy_with_logits(encoded.shuffled, truth)


def parity(case: Case) -> dict[str, Array]:
    """Answers without dropout of the original's weights, and three steps from them."""
    given = {name: torch.from_numpy(one) for name, one in case.arrays.items() if not isinstance(one, list)}
    features, label = given["in/feat"], given["in/label"]
    weight = given.get("in/loss_weight")
    types = len(given["param/encoder_o1.weight"])
    target = label if weight is None else label[:, :types] * (2 * label[:, types:] - 1)
    network = Network(features.shape[1], types, dropout=0.0, head_dropout=0.0)
    state = {name[6:]: one for name, one in given.items() if name.startswith("param/")}
    network.load_state_dict(state, strict=False)
    edges = Edges(*given["in/edge_index"], given["in/edge_type"])
    views = Views.of(features, edges, given["in/edge_type_shuffled"], given["in/perm"], types)
    batch = Batch(torch.stack([given["in/head"], given["in/tail"]], dim=1), target, torch.arange(len(label)))
    labels = labels_of(weight)
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
    told = {name: one.numpy() for name, one in found.items()}
    if weight is not None:
        # a state of the original's loss, which nothing trains
        told["after3/bceloss.weight"] = weight.numpy()
    optimiser = adamw(network, REPLAYED)
    return told | replay(network, lambda: loss_of(network, views, labels, batch), optimisers=[optimiser])
