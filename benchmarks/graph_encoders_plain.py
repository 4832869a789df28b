"""Runs in the image of MRCGNN or TIGER: the same training steps by our code, then plainly.

Reads /in and prints CPU seconds of the steps, how far apart the gradients of the first batch and the logits of the
last one are, the bytes that ours needed, and the names of the weights that no gradient reaches. Without dropout.
"""

from __future__ import annotations

import copy
import json
import os
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from ddi_training import Batch, adamw, bce_of_softmax
from torch import Tensor, nn
from torch.nn import functional

METHOD, VARIANT = os.environ["METHOD"], os.environ["VARIANT"]
TRAINED = {"learning_rate": 3e-4, "weight_decay": 1e-5}
warnings.simplefilter("ignore")

# of a batch: the loss and the logits
Answer = Callable[[Batch], tuple[Tensor, Tensor]]
Prepared = tuple[nn.Module, Answer, Callable[[nn.Module], Answer]]


def read(name: str) -> np.ndarray:
    """One input."""
    return np.load(f"/in/{name}.npy")


DRUGS, TYPES, ENTITIES, RELATIONS = (int(size) for size in read("sizes"))


def mrcgnn() -> Prepared:
    """Three views with shared weights."""
    from network import Network, Relational
    from training import loss_of
    from views import Edges, Views

    head, tail, kind = torch.from_numpy(read("graph")).T
    source, target, kinds = torch.cat([head, tail]), torch.cat([tail, head]), kind.repeat(2)
    features, permutation = torch.from_numpy(read("fingerprints")).float(), torch.randperm(DRUGS)
    shuffled = kind[torch.randperm(len(kind))].repeat(2)
    network = Network(features.shape[1], TYPES, dropout=0.0, head_dropout=0.0)
    views = Views.of(features, Edges(source, target, kinds), shuffled, permutation, TYPES)

    def ours(batch: Batch) -> tuple[Tensor, Tensor]:
        return loss_of(network, views, bce_of_softmax, batch), network(
            network.encode(views), features, batch.pairs
        )

    def convolution(layer: Relational, given: Tensor, types: Tensor) -> Tensor:
        found = given @ layer.root + layer.bias
        for one in range(TYPES):
            here = types == one
            summed = torch.zeros_like(given).index_add(0, target[here], given[source[here]])
            mean = summed / torch.bincount(target[here], minlength=DRUGS).clamp(min=1)[:, None]
            found = found + mean @ layer.weight[one]
        return found

    def plainly(twin: nn.Module) -> Answer:
        def encoded(given: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
            first = torch.relu(convolution(twin.encoder_o1, given, types))
            return first, convolution(twin.encoder_o2, first, types)

        def answer(batch: Batch) -> tuple[Tensor, Tensor]:
            first, second = encoded(features, kinds)
            corrupted = encoded(features[permutation], kinds)[1], encoded(features, shuffled)[1]
            summary = torch.sigmoid(second.mean(dim=0)).expand_as(second)
            known = torch.cat([twin.attt[0] * first, twin.attt[1] * second, features], dim=1)
            logits = twin.mlp(torch.cat([known[batch.pairs[:, 0]], known[batch.pairs[:, 1]]], dim=1))
            loss = bce_of_softmax(logits, batch.target)
            for weight, view in zip((0.05, 0.1), corrupted, strict=True):
                told = torch.cat(
                    [twin.disc.f_k(one.contiguous(), summary.contiguous()) for one in (second, view)], dim=1
                )
                truth = torch.tensor([1.0, 0.0]).expand_as(told)
                loss = loss + weight * functional.binary_cross_entropy_with_logits(told, truth)
            return loss, logits

        return answer

    return network, ours, plainly


def tiger() -> Prepared:
    """Both channels of both drugs of every pair."""
    from channel import Channel
    from graphs import Graph
    from knowledge_channel import knowledge_graphs
    from molecule_channel import FEATURES, molecule_graphs
    from network import Block, Network, Sizes, Widths
    from training import Model

    attended = VARIANT == "corrected"
    graphs = (
        molecule_graphs([str(one) for one in read("smiles")], aliased=not attended, blanks=not attended),
        knowledge_graphs(read("knowledge").astype(np.int64), DRUGS, RELATIONS, random.Random(1)),
    )
    channels = [Channel.of(one, attended=attended, device=torch.device("cpu")) for one in graphs]
    sizes = Sizes(FEATURES, ENTITIES, *(size for one in channels for size in (one.relations, one.degrees)))
    network = Network(sizes, TYPES, Widths.of(64), layers=2, heads=4, attended=attended, dropout=0.0)
    model = Model(network, *channels, bce_of_softmax)

    def ours(batch: Batch) -> tuple[Tensor, Tensor]:
        logits, mutual = model.answer(batch.pairs)
        return model.labels(logits, batch.target) + mutual(), logits

    def weights(block: Block, nodes: Tensor, ends: Tensor, value: Tensor, relation: Tensor) -> Tensor:
        attention = block.multiHeadAttention
        shift = attention.rel_embedding(relation)
        query, key = attention.wq(nodes)[ends[1]] + shift, attention.wk(nodes)[ends[0]] + shift
        product = (query * key).view(len(relation), 4, -1).sum(dim=2) / 4.0
        raised = torch.exp(product + attention.spatial_encoding.fnn(value[:, None]))
        return raised / torch.zeros(len(nodes), 4).index_add(0, ends[1], raised)[ends[1]]

    def side_by_side(drawn: list[Graph]) -> tuple[Tensor, ...]:
        counts = np.array([len(one.nodes) for one in drawn])
        firsts = np.cumsum(counts) - counts
        ends = [
            np.stack([one.paths.source, one.paths.target]) + first
            for one, first in zip(drawn, firsts, strict=True)
        ]
        own = firsts + [one.own for one in drawn]
        told = [np.concatenate([getattr(one.paths, name) for one in drawn]) for name in ("value", "relation")]
        nodes, degree = (np.concatenate([getattr(one, name) for one in drawn]) for name in ("nodes", "degree"))
        owner = np.repeat(np.arange(len(drawn)), counts)
        given = (nodes, degree, np.concatenate(ends, axis=1), *told, owner, own)
        return tuple(torch.from_numpy(one) for one in given)

    def plainly(twin: nn.Module) -> Answer:
        towers = (
            (twin.mol_atom_feature, twin.mol_representation_learning),
            (twin.drug_node_feature, twin.node_representation_learning),
        )

        def drug(drugs: Tensor) -> tuple[Tensor, Tensor]:
            parts, told = [], []
            for (inward, transformer), of_all in zip(towers, graphs, strict=True):
                nodes, degree, ends, value, relation, owner, own = side_by_side(
                    [of_all[one] for one in drugs.tolist()]
                )
                found = inward.node_encoder(nodes) + inward.degree_encoder(degree)
                for block in transformer.encoder:
                    normal = block.layernorm1(found)
                    sent = block.multiHeadAttention.wv(normal)[ends[0]].view(len(value), 4, -1)
                    if attended:
                        sent = sent * weights(block, normal, ends, value, relation)[:, :, None]
                    gathered = torch.zeros_like(normal).index_add(0, ends[1], sent.flatten(1))
                    found = found + block.multiHeadAttention.dense(gathered)
                    found = found + block.ffn(block.layernorm2(found))
                told.append((found, owner))
                sums = torch.zeros(len(drugs), found.shape[1]).index_add(0, owner, found)
                parts.append(found[own] if parts else sums / torch.bincount(owner)[:, None])
            vector = twin.fc1(torch.cat(parts[::-1], dim=1))
            other = torch.arange(len(drugs)).flip(0)
            other[len(drugs) // 2] = other[len(drugs) // 2 + 1]
            return vector, sum(mutual(vector, vector[other], *one) for one in told)

        def mutual(vector: Tensor, other: Tensor, nodes: Tensor, owner: Tensor) -> Tensor:
            told = torch.cat([twin.disc.f_k(one[owner], nodes) for one in (vector, other)], dim=1)
            return functional.binary_cross_entropy_with_logits(told, torch.tensor([1.0, 0.0]).expand_as(told))

        def answer(batch: Batch) -> tuple[Tensor, Tensor]:
            (head, one), (tail, two) = (drug(drugs) for drugs in batch.pairs.T)
            logits = twin.fc2(torch.cat([head, tail], dim=1))
            return bce_of_softmax(logits, batch.target) + 0.1 * (one + two), logits

        return answer

    return network, ours, plainly


def trained(network: nn.Module, answer: Answer, batches: list[Batch]) -> tuple[float, dict[str, Tensor], Tensor]:
    """CPU seconds, gradients of the first batch, logits of the last one after all steps."""
    optimiser, gradients, started = adamw(network, TRAINED), {}, time.process_time()
    for batch in batches:
        optimiser.zero_grad()
        answer(batch)[0].backward()
        if not gradients:
            gradients = {
                name: one.grad.clone() for name, one in network.named_parameters() if one.grad is not None
            }
        optimiser.step()
    seconds = time.process_time() - started
    with torch.no_grad():
        return seconds, gradients, answer(batches[-1])[1]


def main() -> None:
    """From the same weights."""
    torch.manual_seed(17263407)
    batches = []
    for step in torch.from_numpy(read("steps")):
        target = torch.zeros(len(step), TYPES).scatter_(1, step[:, 2:], 1.0)
        batches.append(Batch(step[:, :2], target, torch.arange(len(step))))
    network, ours, plainly = {"mrcgnn": mrcgnn, "tiger": tiger}[METHOD]()
    twin = copy.deepcopy(network)
    seconds, gradients, logits = trained(network, ours, batches)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    plain_seconds, plain_gradients, plain_logits = trained(twin, plainly(twin), batches)
    largest = max(float(one.abs().max()) for one in plain_gradients.values())
    found = {
        "ours": seconds,
        "plain": plain_seconds,
        "bytes": most,
        "apart": float((logits - plain_logits).abs().max()),
        "gradients_apart": max(
            float((gradients[name] - one).abs().max()) / largest for name, one in plain_gradients.items()
        ),
        "untrained": sorted(name for name, _ in network.named_parameters() if name not in gradients),
    }
    sys.stdout.write(json.dumps(found) + "\n")


main()
