"""A golden case of SAGAN: three adversarial steps of the network and the objective that train."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from adversary import Adversary
from drug_pairs import DrugPairs
from golden_cases import golden_adamw, golden_loss, golden_target, replay
from golden_sizes import golden_network
from molecule_graphs import Molecules
from molecules import Molecule
from objective import Objective
from permafrost_sdk import Case, Given
from torch import Tensor, nn

SIDES = ("head", "tail", "adv_head", "adv_tail")


def parity(case: Case) -> dict[str, Any]:
    """Losses of labels and domains, the strength of the reversal, gradients, parameters after three steps."""
    given, multilabel = case.arrays, case.about["dataset"] == "twosides"
    network = golden_network(case)
    adversary = _adversary(case)
    molecules = [one for side in SIDES for one in _molecules(given, side)]
    source, target = torch.arange(len(molecules)).view(2, 2, -1).transpose(1, 2)
    judged = DrugPairs(network, Molecules.of(molecules, torch.device("cpu")))
    objective = Objective(judged, adversary, golden_loss(case), multilabel)
    truth, model = golden_target(case), nn.ModuleDict({"network": network, "adversary": adversary})
    told: dict[str, list[float]] = {"loss_label": [], "loss_adv": [], "grl_coeff": []}

    def loss() -> Tensor:
        labels, domains = objective(source, truth, target)
        for name, value in zip(told, (labels, domains, adversary.strength), strict=True):
            told[name].append(float(value))
        return labels + case.about["weight_adv"] * domains

    replayed = replay(model, loss, golden_adamw(model, case))
    found = {name.replace("/network.", "/").replace("/adversary.", "_ad/"): one for name, one in replayed.items()}
    return found | {name: np.array(values) for name, values in told.items()}


def _adversary(case: Case) -> Adversary:
    """With the case's weights and matrices, and as many forward passes behind it; dropout is off in goldens."""
    of_features, of_predictions = (torch.from_numpy(case.arrays[f"const/random_matrix_{n}"]) for n in (0, 1))
    weights = {name[9:]: torch.tensor(one) for name, one in case.arrays.items() if name.startswith("param_ad/")}
    sizes = {"width": of_features.shape[1], "hidden": len(weights["ad_layer1.bias"]), "dropout": 0.0}
    adversary = Adversary(len(of_features), len(of_predictions), **sizes)
    adversary.load_state_dict(weights)
    adversary.of_features, adversary.of_predictions = of_features, of_predictions
    adversary.forwards = np.asarray(case.arrays["const/iter_num_start"]).item()
    return adversary


def _molecules(given: Mapping[str, Given], side: str) -> list[Molecule]:
    """One molecule per row of the batch, cut out of the original's graph of them all."""
    atoms, bonds, batch = (np.asarray(given[f"in/{side}_{name}"]) for name in ("x", "edge_index", "batch"))
    firsts = np.searchsorted(batch, np.arange(batch.max() + 2))
    owner = batch[bonds[0]]
    return [
        Molecule(atoms[first:end], (own := bonds[:, owner == number]) - first, np.zeros_like(own[0]))
        for number, (first, end) in enumerate(pairwise(firsts))
    ]
