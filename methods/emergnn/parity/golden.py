"""A golden case of EmerGNN, run through the graph, the network, the loss and the epochs that train."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from ddi_sdk import Items
from examples import Examples
from golden_cases import blocks_of, load_golden, named, replay, said_in
from graph import Graph, Numbering
from learning import learn, loss_of, optimiser, scores_of
from measures import of_lines, of_types
from network import Network
from permafrost_sdk import Array, Case
from routes import Routes
from torch.optim import Adam


def parity(case: Case) -> dict[str, Any]:
    """Encodings, logits and metrics; with one type per pair also loss, gradients and three steps."""
    about, given = case.about, case.arrays
    multilabel, hops = about["dataset"] == "twosides", blocks_of(case, "rel_kg.")
    types, width = len(given["param/Wr.weight"]), given["param/rel_kg.0.weight"].shape[1]
    numbering = Numbering(types, about["all_rel"] - types, multilabel)
    edges = numbering.edges(given["in/ddi_facts"], given["in/kg"], about["all_ent"])
    graph = Graph.of(edges, about["all_ent"], numbering.count, about["eval_ent"])
    network = Network(
        torch.from_numpy(np.asarray(given["in/morgan"], dtype=np.float32)),
        own=about["feat"] == "E",
        width=width,
        gate=len(given["param/relation_linear.0.weight"]),
        layers=hops,
        relations=numbering.count,
        types=types,
        outermost=multilabel,
    )
    load_golden(network, case)
    pairs = np.column_stack([given["in/head"], given["in/tail"]])
    examples = Examples.of(_lines(given) if multilabel else Items(pairs, given["in/y"], np.zeros(len(pairs))))
    routes = Routes.of(graph, np.concatenate([pairs, examples.pairs()]), hops)
    with torch.no_grad():
        encoded = network.encode(torch.from_numpy(pairs), routes.batch(pairs))
        found = {"out/ht_embed": encoded, "out/logits": network.Wr(encoded)}
    *rates, batch_size = said_in(about["optimizer"], "lr", "wd", "batch")
    if not multilabel:
        found |= _three_steps(network, routes, pairs, given["in/y"], optimiser(network, *rates))
    learn(network, routes, examples, optimiser(network, *rates), batch_size=int(batch_size), repeated=True)
    found |= named(network, "after_train_epoch")
    scores = scores_of(network, routes, examples.items.pairs)
    if multilabel:
        measured = of_lines(examples.items.labels, 1 / (1 + np.exp(-scores)))
        return found | dict(zip(("out/eval_roc", "out/eval_pr", "out/eval_ap"), measured, strict=True))
    measured = of_types(given["in/y"], scores.argmax(axis=1))
    return found | dict(zip(("out/eval_f1", "out/eval_acc", "out/eval_kappa"), measured, strict=True))


def _three_steps(network: Network, routes: Routes, pairs: Array, types: Array, adam: Adam) -> dict[str, Any]:
    """The loss, and what the goldens tell of three steps on all pairs at once."""
    layers, given = routes.batch(pairs), torch.from_numpy(pairs)

    def loss() -> torch.Tensor:
        return loss_of(network(given, layers), types, repeated=True)

    with torch.no_grad():
        found = {"out/loss_eval": loss()}
    return found | replay(network, loss, adam)


def _lines(given: dict[str, Array]) -> Items:
    """Positive lines, each followed by its negative."""
    both = np.stack([given["in/pos"], given["in/neg"]], axis=1)
    signs = both[:, :, 2:] * np.array([1, -1])[:, None]
    pairs = both[:, :, :2].reshape(-1, 2)
    return Items(pairs, signs.reshape(len(pairs), -1).astype(np.int8), np.zeros(len(pairs)))
