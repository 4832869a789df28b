"""A golden case of MLP, run through the network, the loss and the steps that train."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from golden_cases import golden_adamw, golden_loss, golden_target, load_golden, replay
from network import Network
from permafrost_sdk import Case


def parity(case: Case) -> dict[str, Any]:
    """Logits of both ways to compute them, losses, gradients and parameters after three steps without dropout."""
    features, multilabel = case.arrays["param/entity_embedding"], case.about["dataset"] == "twosides"
    types, hidden = case.arrays["param/lin2.weight"].shape
    network = Network(features, types, hidden=hidden, dropout=0.0, multilabel=multilabel)
    # these weights lie the other way round here
    turned = {"param/lin1.weight": case.arrays["param/lin1.weight"].T}
    load_golden(network, replace(case, arrays={**case.arrays, **turned}), read=["entity_embedding"])
    pairs = torch.from_numpy(case.arrays["in/head"]), torch.from_numpy(case.arrays["in/tail"])
    pairs, target, loss = torch.stack(pairs, dim=1), golden_target(case), golden_loss(case)
    network.eval()
    with torch.no_grad():
        found = {"out/logits": network.scores(pairs), "out/loss_eval": loss(network(pairs), target)}
    found |= replay(network, lambda: loss(network(pairs), target), golden_adamw(network, case))
    return found | {name: found[name].T for name in ("grad0/lin1.weight", "after3/lin1.weight")}
