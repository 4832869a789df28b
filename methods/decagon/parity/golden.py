"""A golden case of Decagon, run through the graph, the network, the loss and the steps that train."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from golden_cases import golden_adamw, golden_loss, golden_target, load_golden, replay
from neighbours import Neighbours
from network import Network
from permafrost_sdk import Case
from torch.nn import functional


def parity(case: Case) -> dict[str, Any]:
    """Logits of both ways to compute them, losses, gradients and parameters after three steps without dropout.

    The first layer is compared at all nodes, those that training leaves out included.
    """
    given, features = case.arrays, case.arrays["in/init_emb"]
    (nodes, _), (types, hidden, _) = features.shape, given["param/relation_param"].shape
    graph, whole = (
        Neighbours.of(given["in/edge_index"], nodes, wanted) for wanted in (case.about["drugs"], nodes)
    )
    network = Network(graph, features[graph.far], types, hidden=hidden, dropout=0.0)
    # D lies the other way round here
    turned = {"param/relation_param": given["param/relation_param"].swapaxes(0, 1)}
    load_golden(network, replace(case, arrays={**given, **turned}))
    pairs = torch.stack([torch.from_numpy(given[f"in/{end}"]) for end in ("head", "tail")], dim=1)
    loss, target = golden_loss(case, functional.cross_entropy), golden_target(case)
    network.eval()
    with torch.no_grad():
        found = {
            "out/logits": network.scores(pairs),
            "out/loss_eval": loss(network(pairs), target),
            "out/node_after_conv1": network.conv1(whole.first.times(torch.from_numpy(features[whole.far]))),
        }
    found |= replay(network, lambda: loss(network(pairs), target), golden_adamw(network, case))
    turned_back = ("grad0/relation_param", "after3/relation_param")
    return found | {name: found[name].swapaxes(0, 1) for name in turned_back}
