"""Runs in EmerGNN's image: batches of ours, then a few pairs with messages along every edge.

Reads /in and prints estimated CPU seconds of an epoch, our peak of memory, and how far the gradients are apart.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ddi_sdk import Items
from examples import Examples, drawn_to_hide
from graph import Graph, Numbering
from learning import learn, loss_of, optimiser
from network import Network
from routes import Routes
from torch import Tensor

WIDTH, LAYERS, BATCH, SHARE = 64, 3, 32, 0.2
# edges whose messages are made at a time
CHUNK = 20_000


class AllEdges(torch.autograd.Function):
    """Sums of messages along all edges: nodes x pairs x width, and relations x pairs x width."""

    @staticmethod
    def forward(context: Any, hidden: Tensor, relations: Tensor, edges: Tensor) -> Tensor:
        context.save_for_backward(hidden, relations, edges)
        arriving = torch.zeros_like(hidden)
        for source, target, relation in (chunk.T for chunk in edges.split(CHUNK)):
            arriving.index_add_(0, target, relations[relation] * hidden[source])
        return arriving

    @staticmethod
    def backward(context: Any, above: Tensor) -> tuple[Tensor, Tensor, None]:
        hidden, relations, edges = context.saved_tensors
        for_hidden, for_relations = torch.zeros_like(hidden), torch.zeros_like(relations)
        for source, target, relation in (chunk.T for chunk in edges.split(CHUNK)):
            for_hidden.index_add_(0, source, relations[relation] * above[target])
            for_relations.index_add_(0, relation, hidden[source] * above[target])
        return for_hidden, for_relations, None


def logits_of(network: Network, pairs: Tensor, edges: Tensor, nodes: int) -> Tensor:
    """As the definition says, for fingerprints and one type per pair."""
    head, tail = (network.Went(network.ent_kg[one]) for one in pairs.T)
    both, each = torch.cat([head, tail], dim=1), torch.arange(len(pairs))
    arrived = []
    for start, vectors, end in ((pairs[:, 0], head, pairs[:, 1]), (pairs[:, 1], tail, pairs[:, 0])):
        hidden = torch.zeros(nodes, len(pairs), WIDTH).index_put((start, each), vectors)
        for number in range(LAYERS):
            gates = torch.sigmoid(network.attn_relation[number](torch.relu(network.relation_linear[number](both))))
            relations = gates.T[:, :, None] * network.rel_kg[number].weight[:, None]
            hidden = torch.relu(network.linear[number](AllEdges.apply(hidden, relations, edges)))
        arrived.append(hidden[end, each])
    at_tail, at_head = arrived
    return network.Wr(torch.cat([at_head, at_tail], dim=1))


def gradients(network: Network, loss: Tensor) -> list[Tensor]:
    """Of everything that is trained and has any."""
    network.zero_grad()
    loss.backward()
    return [one.grad.clone() for one in network.parameters() if one.grad is not None]


def main() -> None:
    """Ours, then the definition."""
    torch.manual_seed(1)
    given = {path.stem: np.load(path) for path in Path("/in").glob("*.npy")}
    drugs, types, nodes, kinds = map(int, given["sizes"])
    numbering = Numbering(types, kinds, multilabel=False)
    knowledge = numbering.knowledge(given["knowledge"].astype(np.int64))
    network = Network(
        torch.from_numpy(given["fingerprints"].astype(np.float32)),
        own=False,
        width=WIDTH,
        layers=LAYERS,
        relations=numbering.count,
        types=types,
        outermost=False,
    )
    items = Items(given["pairs"].astype(np.int64), given["labels"], np.zeros(len(given["pairs"])))
    hidden = drawn_to_hide(items, knowledge, SHARE, np.random.default_rng(1))
    known, examples = Examples.of(items).hiding(hidden, 1)
    edges = numbering.edges(known.facts(), knowledge, nodes)
    began = time.process_time()
    routes = Routes.of(Graph.of(edges, nodes, numbering.count, drugs), examples.pairs(), LAYERS)
    prepared = time.process_time() - began
    adam, none = optimiser(network, 3e-3, 1e-8), np.zeros(0, dtype=np.int64)
    # the first step loads parts of the library
    for batches in (1, int(os.environ["BATCHES"])):
        some = Examples(items, examples.own[: batches * BATCH], none)
        began = time.process_time()
        learn(network, routes, some, adam, batch_size=BATCH, repeated=True)
        example = (time.process_time() - began) / len(some.own)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    few = examples.own[: int(os.environ["PAIRS"])]
    pairs, labels = torch.from_numpy(items.pairs[few]), items.labels[few]
    ours = gradients(network, loss_of(network(pairs, routes.batch(pairs.numpy())), labels, repeated=True))
    began = time.process_time()
    logits = logits_of(network, pairs, torch.from_numpy(edges), nodes)
    theirs = gradients(network, loss_of(logits, labels, repeated=True))
    pair = (time.process_time() - began) / len(pairs)
    found = {
        "examples": len(examples.own),
        "ours": prepared + example * len(examples.own),
        "plain": pair * len(examples.own),
        "apart": max(
            float((one - other).abs().max() / other.abs().max()) for one, other in zip(ours, theirs, strict=True)
        ),
        "peak": peak,
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
