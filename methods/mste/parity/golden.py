"""A golden case of MSTE, run through the network, the loss and the steps that train."""

from __future__ import annotations

from typing import Any

import torch
from golden_cases import golden_adamw, load_golden, replay
from network import Network
from permafrost_sdk import Case
from torch import Tensor
from training import opposed


def parity(case: Case) -> dict[str, Any]:
    """Scores, losses, gradients and embeddings after three steps without dropout; negatives are the case's."""
    given, multilabel = case.arrays, case.about["dataset"] == "twosides"
    drugs, dimension = given["param/entity_embedding"].shape
    gamma, types = float(given["param/gamma"][0]), len(given["param/relation_embedding"])
    network = Network(drugs, types, dimension=dimension, gamma=gamma, dropout=0.0, multilabel=multilabel)
    load_golden(network, case, read=["gamma"])
    triple, other = torch.from_numpy(given["in/triple"]), torch.from_numpy(given["in/neg"])
    pairs, own = triple[:, :2], triple[:, 2:]
    weight = torch.from_numpy(given["in/loss_weight"])[own] if multilabel else 1.0

    def scores() -> tuple[Tensor, Tensor]:
        negative = network(other, own) if multilabel else network(pairs, other)
        return network(pairs, own), negative

    network.eval()
    with torch.no_grad():
        positive, negative = scores()
        found = {
            "out/scores_all_relations": network.scores(pairs),
            "out/pos_score": positive[:, 0],
            "out/neg_score": negative[:, 0],
            "out/loss_eval": opposed(gamma, positive, negative, weight),
        }
    return found | replay(network, lambda: opposed(gamma, *scores(), weight), golden_adamw(network, case))
