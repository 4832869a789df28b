"""A golden case of MRCGNN, run through the views, the network, the loss and the steps that train."""

from __future__ import annotations

from typing import Any

import torch
from ddi_training import Batch
from golden_cases import golden_adamw, golden_loss, golden_target, load_golden, replay
from network import Network
from permafrost_sdk import Case
from training import loss_of
from views import Edges, Views


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
