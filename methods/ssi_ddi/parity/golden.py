"""A golden case of SSI-DDI, from its SMILES on, through the network, the loss and the steps that train."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from drug_pairs import DrugPairs
from golden_cases import golden_adamw, golden_loss, golden_target, replay
from golden_sizes import golden_network
from molecule_graphs import Molecules
from molecules import Molecule, molecules_of
from permafrost_sdk import Array, Case


def parity(case: Case) -> dict[str, Any]:
    """Atoms and bonds of both sides, logits and what lies under them, losses, parameters after three steps."""
    given = case.arrays
    molecules = molecules_of(given["in/smiles"])
    network = golden_network(case)
    sides = {side: np.asarray(given[f"in/{side[0]}_index"]) for side in ("head", "tail")}
    pairs = torch.from_numpy(np.stack(list(sides.values()), axis=1))
    judged = DrugPairs(network, Molecules.of(molecules, torch.device("cpu")))
    loss, target = golden_loss(case), golden_target(case)
    network.eval()
    with torch.no_grad():
        logits, features = judged.judge(pairs)
    found = {"out/logits": logits, "out/final_layer": features, "out/loss_eval": loss(logits, target)}
    for side, drugs in sides.items():
        found |= _side_by_side([molecules[drug] for drug in drugs], f"in/{side}")
    return found | replay(network, lambda: loss(judged.judge(pairs)[0], target), golden_adamw(network, case))


def _side_by_side(molecules: list[Molecule], name: str) -> dict[str, Array]:
    """One graph of them all, as the original batches them."""
    sizes = np.array([len(one.atoms) for one in molecules])
    firsts = np.cumsum(sizes) - sizes
    bonds = [one.bonds + first for one, first in zip(molecules, firsts, strict=True)]
    return {
        f"{name}_x": np.concatenate([one.atoms for one in molecules]),
        f"{name}_edge_index": np.concatenate(bonds, axis=1),
        f"{name}_batch": np.arange(len(molecules)).repeat(sizes),
    }
