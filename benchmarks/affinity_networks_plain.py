"""Runs in the image of GraphDTA or DeepDTA: training steps plainly, then ours, from the same weights.

Plainly: the molecule and the sequence of every pair are encoded, edge by edge, embedding by embedding, with
composed gradients. Reads /in; prints CPU seconds of the steps, how far apart the first gradients are, relative to
each parameter's largest, and the answers to the last batch after the steps, in training and in evaluation mode.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from affinity_steps import adam, step
from affinity_training import Model
from torch import Tensor, nn
from torch.nn import functional

warnings.simplefilter("ignore")
KIND = os.environ["NETWORK"]

Judge = Callable[[Tensor], Tensor]


def softmax(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """Within each segment."""
    spread = segment[:, None].expand_as(values)
    shape = (count, values.shape[1])
    largest = values.new_full(shape, -torch.inf).scatter_reduce(0, spread, values.detach(), "amax")
    raised = torch.exp(values - largest[segment])
    return raised / values.new_zeros(shape).index_add(0, segment, raised)[segment]


class Side:
    """Molecules side by side, one per pair, whatever molecule it is."""

    def __init__(self, molecules: list[Any]) -> None:
        sizes = [len(one.atoms) for one in molecules]
        firsts = np.cumsum(sizes) - sizes
        bonds = [one.bonds + first for one, first in zip(molecules, firsts, strict=True)]
        self.count = len(molecules)
        self.atoms = torch.from_numpy(np.concatenate([one.atoms for one in molecules]))
        self.bonds = torch.from_numpy(np.concatenate(bonds, axis=1))
        loops = torch.arange(len(self.atoms))
        self.looped = torch.cat([self.bonds, torch.stack([loops, loops])], dim=1)
        self.molecule = torch.arange(self.count).repeat_interleave(torch.tensor(sizes))

    def sums(self, values: Tensor) -> Tensor:
        """Over the atoms of each."""
        return values.new_zeros(self.count, values.shape[1]).index_add(0, self.molecule, values)

    def largest(self, values: Tensor) -> Tensor:
        """Over the atoms of each."""
        spread = self.molecule[:, None].expand_as(values)
        shape = (self.count, values.shape[1])
        return values.new_zeros(shape).scatter_reduce(0, spread, values, "amax", include_self=False)


def convolution(layer: nn.Module, values: Tensor, side: Side) -> Tensor:
    """D^-1/2 (A + I) D^-1/2 X W + b, edge by edge."""
    source, target = side.looped
    degree = torch.bincount(target).to(values.dtype)
    weights = degree[source] ** -0.5 * degree[target] ** -0.5
    sent = values @ layer.lin.weight.T
    return torch.zeros_like(sent).index_add(0, target, sent[source] * weights[:, None]) + layer.bias


def attention(layer: nn.Module, values: Tensor, side: Side) -> Tensor:
    """Heads beside each other, edge by edge."""
    source, target = side.looped
    _, heads, width = layer.att_src.shape
    sent = (values @ layer.lin.weight.T).view(-1, heads, width)
    left, right = ((sent * one).sum(dim=2) for one in (layer.att_src, layer.att_dst))
    weights = softmax(functional.leaky_relu(left[source] + right[target], 0.2), target, len(values))
    return torch.zeros_like(sent).index_add(0, target, sent[source] * weights[:, :, None]).flatten(1) + layer.bias


def isomorphism(layer: nn.Module, values: Tensor, side: Side) -> Tensor:
    """MLP((1 + eps) x + sum of neighbours)."""
    source, target = side.bonds
    around = torch.zeros_like(values).index_add(0, target, values[source])
    summed: Tensor = layer.nn((1 + layer.eps) * values + around)
    return summed


def drug_rows(network: Any, side: Side) -> Tensor:
    """What the network makes of each molecule, without dropout."""
    values, relu = side.atoms, functional.relu
    if KIND == "gcn":
        for number in range(len(network.sizes.layers)):
            values = relu(convolution(network.get_submodule(f"conv{number + 1}"), values, side))
        values = side.largest(values)
    elif KIND == "gat":
        values = functional.elu(attention(network.gcn1, values, side))
        return relu(network.fc_g1(side.largest(relu(attention(network.gcn2, values, side)))))
    elif KIND == "gat_gcn":
        values = relu(convolution(network.conv2, relu(attention(network.conv1, values, side)), side))
        values = torch.cat(
            [side.largest(values), side.sums(values) / torch.bincount(side.molecule)[:, None]], dim=1
        )
    else:
        for number in range(len(network.sizes.layers)):
            layer, norm = (network.get_submodule(f"{name}{number + 1}") for name in ("conv", "bn"))
            values = functional.batch_norm(
                relu(isomorphism(layer, values, side)),
                norm.running_mean,
                norm.running_var,
                norm.weight,
                norm.bias,
                network.training,
            )
        return relu(network.fc1_xd(side.sums(values)))
    return network.fc_g2(relu(network.fc_g1(values)))


def graphdta(model: Any, molecules: list[Any]) -> Judge:
    """Answers to pairs."""
    network = model.network

    def judge(pairs: Tensor) -> Tensor:
        drugs = drug_rows(network, Side([molecules[one] for one in pairs[:, 0].tolist()]))
        embedded = functional.embedding(model.proteins.letters[pairs[:, 1]], network.embedding_xt.weight)
        found = network.get_submodule(network.CONVOLUTION)(embedded)
        found = functional.relu(found) if KIND == "gat" else found
        values = torch.cat([drugs, network.get_submodule(network.PROTEIN)(found.flatten(1))], dim=1)
        for layer in (network.fc1, network.fc2):
            values = functional.relu(layer(values))
        return network.out(values)[:, 0]

    return judge


def deepdta(model: Any) -> Judge:
    """Answers to pairs."""
    network = model.network

    def judge(pairs: Tensor) -> Tensor:
        rows = []
        for reader, letters in (
            (network.drug, model.drug_letters[pairs[:, 0]]),
            (network.protein, model.target_letters[pairs[:, 1]]),
        ):
            values = functional.embedding(letters, reader.embedding.weight).transpose(1, 2)
            for layer in reader.convolutions:
                values = functional.relu(layer(values))
            rows.append(values.amax(dim=2))
        values = torch.cat(rows, dim=1)
        for layer in network.head:
            values = functional.relu(layer(values))
        return network.out(values)[:, 0]

    return judge


def steps(model: nn.Module, judge: Judge) -> Iterator[float]:
    """CPU seconds of each step."""
    optimiser = adam(model, 5e-4, 1e-8)
    model.train()
    for pairs, values in BATCHES:
        started = time.process_time()
        step(functional.mse_loss(judge(pairs), values), optimiser)
        yield time.process_time() - started


def main() -> None:
    """Both from the same weights."""
    torch.manual_seed(1)
    texts = [[str(one) for one in np.load(f"/in/{name}.npy")] for name in ("smiles", "sequences")]
    ours, molecules = made(*texts)
    if DOUBLE:
        ours.double()
    plain = copy.deepcopy(ours)
    judges = {"plain": deepdta(plain) if KIND == "deepdta" else graphdta(plain, molecules), "ours": ours}
    models = {"plain": plain, "ours": ours}
    seconds = dict.fromkeys(models, 0.0)
    gradients: dict[str, dict[str, Tensor]] = {}
    for name, model in models.items():
        for number, took in enumerate(steps(model, judges[name])):
            seconds[name] += took
            if not number:
                gradients[name] = {key: one.grad.clone() for key, one in model.named_parameters()}
    shares = {
        key: float((one - gradients["ours"][key]).abs().max() / one.abs().max().clamp(min=1e-6))
        for key, one in gradients["plain"].items()
    }
    worst = max(shares, key=lambda key: shares[key])
    found = {"gradients": shares[worst], "worst": worst}
    pairs = BATCHES[-1][0]
    with torch.no_grad():
        for mode in ("training", "evaluating"):
            for model in models.values():
                model.train(mode == "training")
            answers = [judges[name](pairs) for name in models]
            found[mode] = float((answers[0] - answers[1]).abs().max())
    sys.stdout.write(json.dumps({**seconds, **found}) + "\n")


def made(smiles: list[str], sequences: list[str]) -> tuple[Model, list[Any]]:
    """The method's own model, without dropout, and its molecules."""
    if KIND == "deepdta":
        from pair_model import DeepDTA

        return DeepDTA(smiles, sequences, (4, 8), 0.0), []
    from drug_graphs import drug_graphs
    from pair_model import GraphDTA

    model, molecules = GraphDTA(smiles, sequences, KIND, 0.0), drug_graphs(smiles)
    if DOUBLE:
        graph = replace(model.molecules.graph, atoms=model.molecules.graph.atoms.double())
        model.molecules = replace(model.molecules, graph=graph)
        molecules = [replace(one, atoms=one.atoms.astype(np.float64)) for one in molecules]
    return model, molecules


PAIRS = torch.from_numpy(np.load("/in/pairs.npy").astype(np.int64))
DOUBLE = "DOUBLE" in os.environ
VALUES = torch.from_numpy(np.load("/in/values.npy").astype(np.float64 if DOUBLE else np.float32))
SIZE = int(os.environ["BATCH"])
BATCHES = list(zip(PAIRS.split(SIZE), VALUES.split(SIZE), strict=True))
main()
