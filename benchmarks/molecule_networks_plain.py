"""Runs in the image of SSI-DDI or SAGAN: the same training steps plainly, then ours.

Plainly: both molecules of every pair are encoded, edge by edge with composed gradients; a pair's substructures
meet in every type's matrix; SAGAN's domains are passed one after the other. Reads /in, prints CPU seconds of the
steps and how far the logits of the last batch are apart after them.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from adversary import Adversary, domain_loss
from ddi_training import adamw, bce_of_softmax
from drug_pairs import DrugPairs
from molecule_graphs import Molecules
from molecules import Molecule, molecules_of
from objective import Objective
from substructures import GraphAttention, Network, Round, Score
from torch import Tensor, nn
from torch.nn import functional

TRAINED = {"learning_rate": 3e-4, "weight_decay": 1e-5}
SIZES = {"width": 500, "hidden": 500, "dropout": 0.0}
SAGAN = os.environ["METHOD"] == "sagan"
warnings.simplefilter("ignore")

Judge = Callable[[Tensor], tuple[Tensor, Tensor]]


class Batch:
    """Molecules side by side, one per row, whatever molecule it is."""

    def __init__(self, molecules: list[Molecule]) -> None:
        sizes = [len(one.atoms) for one in molecules]
        firsts = np.cumsum(sizes) - sizes
        self.count = len(molecules)
        self.atoms = torch.from_numpy(np.concatenate([one.atoms for one in molecules]))
        self.bonds = torch.from_numpy(
            np.concatenate([one.bonds + first for one, first in zip(molecules, firsts, strict=True)], axis=1)
        )
        self.molecule = torch.arange(self.count).repeat_interleave(torch.tensor(sizes))


def softmax(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """Within each segment."""
    spread = segment.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
    shape = (count, *values.shape[1:])
    largest = values.new_full(shape, -torch.inf).scatter_reduce(0, spread, values.detach(), "amax")
    raised = torch.exp(values - largest[segment])
    return raised / values.new_zeros(shape).index_add(0, segment, raised)[segment]


def normalised(values: Tensor, norm: nn.Module, batch: Batch) -> Tensor:
    """Over atoms and channels of a molecule."""
    entries = torch.bincount(batch.molecule)[:, None] * values.shape[1]

    def mean(of: Tensor) -> Tensor:
        sums = of.new_zeros(batch.count, of.shape[1]).index_add(0, batch.molecule, of)
        return (sums.sum(dim=1, keepdim=True) / entries)[batch.molecule]

    centred = values - mean(values)
    return centred / torch.sqrt(mean(centred**2) + 1e-5) * norm.weight + norm.bias


def attended(values: Tensor, layer: GraphAttention, batch: Batch) -> Tensor:
    """Graph attention, edge by edge."""
    loops = torch.arange(len(values))
    source, target = torch.cat([batch.bonds, torch.stack([loops, loops])], dim=1)
    projected = (values @ layer.lin_src.weight.T).view(len(values), 2, -1)
    left, right = ((projected * one).sum(dim=2) for one in (layer.att_src, layer.att_dst))
    weights = softmax(functional.leaky_relu(left[source] + right[target], 0.2), target, len(values))
    messages = projected[source] * weights[:, :, None]
    return torch.zeros_like(projected).index_add(0, target, messages).flatten(1) + layer.bias


def scored(values: Tensor, layer: Score, batch: Batch) -> Tensor:
    """What each atom counts in its molecule."""
    source, target = batch.bonds
    around = torch.zeros_like(values).index_add(0, target, values[source])
    scores = layer.gnn["lin_rel"](around) + layer.gnn["lin_root"](values)
    return softmax(scores, batch.molecule, batch.count)


def encoded(network: Network, batch: Batch) -> Tensor:
    """Four substructures per row."""
    values, found = normalised(batch.atoms, network.initial_norm, batch), []
    for number, norm in enumerate(network.net_norms):
        block: Round = network.get_submodule(f"block{number}")
        values = attended(values, block.conv, batch)
        kept = values * scored(values, block.readout, batch)
        found.append(values.new_zeros(batch.count, values.shape[1]).index_add(0, batch.molecule, kept))
        values = functional.elu(normalised(values, norm, batch))
    return torch.stack(found, dim=1)


def plainly(network: Network, molecules: list[Molecule]) -> Judge:
    """Logits and representations of pairs."""

    def judge(pairs: Tensor) -> tuple[Tensor, Tensor]:
        head, tail = (encoded(network, Batch([molecules[one] for one in side])) for side in pairs.T)
        layer = network.co_attention
        keys, queries = head @ layer.w_k, tail @ layer.w_q
        weights = torch.tanh(keys[:, :, None] + queries[:, None] + layer.bias) @ layer.a
        types = functional.normalize(network.KGE["rel_emb"].weight, dim=1).view(-1, head.shape[2], head.shape[2])
        heads, tails = (functional.normalize(one, dim=2)[:, None] for one in (head, tail))
        logits = (weights[:, None] * (heads @ types @ tails.transpose(2, 3))).sum(dim=(2, 3))
        return logits, torch.cat([head.mean(dim=1), tail.mean(dim=1)], dim=1)

    return judge


def train(model: nn.ModuleDict, judge: Judge, objective: Objective | None) -> float:
    """CPU seconds of the steps."""
    optimiser = adamw(model, TRAINED)
    started = time.process_time()
    for triplets, others in BATCHES:
        truth = functional.one_hot(triplets[:, 2], TYPES).float()
        optimiser.zero_grad()
        if objective is not None:
            labels, domains = objective(triplets[:, :2], truth, others)
            loss = labels + 0.01 * domains
        else:
            # the target first, as the original does
            target = judge(others) if SAGAN else ()
            logits, features = judge(triplets[:, :2])
            loss = bce_of_softmax(logits, truth)
            if target:
                both = torch.cat([target[1], features]), torch.cat([target[0], logits])
                loss += 0.01 * domain_loss(model["adversary"], *both, len(logits), multilabel=False)
        loss.backward()
        optimiser.step()
    return time.process_time() - started


def main() -> None:
    """Both from the same weights."""
    torch.manual_seed(1)
    molecules = molecules_of([str(one) for one in np.load("/in/smiles.npy")])
    network = Network(TYPES, 64)
    first = nn.ModuleDict({"network": network, "adversary": Adversary(128, TYPES, **SIZES)})
    second = copy.deepcopy(first)
    plain = plainly(first["network"], molecules)
    ours = DrugPairs(second["network"], Molecules.of(molecules, torch.device("cpu")))
    objective = Objective(ours, second["adversary"], bce_of_softmax, multilabel=False)
    seconds = {"plain": train(first, plain, None), "ours": train(second, ours.judge, objective)}
    with torch.no_grad():
        last = BATCHES[-1][0][:, :2]
        apart = float((plain(last)[0] - ours.judge(last)[0]).abs().max())
    sys.stdout.write(json.dumps(seconds | {"apart": apart}) + "\n")


SOURCE, TARGET = (torch.from_numpy(np.load(f"/in/{name}.npy").astype(np.int64)) for name in ("source", "target"))
# SSI-DDI has no target
BATCHES = [
    (source, target if SAGAN else target[:0])
    for source, target in zip(SOURCE.split(128), TARGET.split(128), strict=True)
]
TYPES = int(os.environ["TYPES"])
main()
