"""Golden cases of TIGER: graphs, weights and labels come from the original, answers and steps are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from channel import Channel
from ddi_training import Batch
from golden_cases import blocks_of, golden_adamw, golden_loss, golden_target, load_golden, replay
from graphs import Graph, Links
from network import Network, Sizes, Widths
from permafrost_sdk import Array, Case, Given
from training import Model


def parity(case: Case) -> dict[str, Any]:
    """Answers without dropout of the original's weights, and three steps from them."""
    given, target = case.arrays, golden_target(case)
    network = Network(
        _sizes(given),
        len(given["param/fc2.6.bias"]),
        _widths(given),
        # one more than there are blocks; both channels have as many, or the weights don't fit
        layers=blocks_of(case, "mol_representation_learning.encoder.") + 1,
        heads=case.about["heads"],
        attended=False,
        dropout=0.0,
    )
    load_golden(network, case)
    channels = [
        Channel.of(
            _graphs(given, name, "1") + _graphs(given, name, "2"), attended=False, device=torch.device("cpu")
        )
        for name in ("mol", "sub")
    ]
    model = Model(network, *channels, golden_loss(case))
    # heads and tails of the case are drugs of their own
    pairs = torch.arange(2 * len(target)).view(2, -1).T
    batch = Batch(pairs, target, torch.arange(len(target)))
    network.eval()
    with torch.no_grad():
        logits, mutual = model.answer(pairs)
        found = {"out/logits": logits, "out/reserved_loss": mutual(), "out/loss_eval": model.loss(batch)}
    return found | replay(network, lambda: model.loss(batch), golden_adamw(network, case))


def _sizes(given: Mapping[str, Given]) -> Sizes:
    return Sizes(
        features=given["param/mol_atom_feature.node_encoder.weight"].shape[1],
        entities=len(given["param/drug_node_feature.node_encoder.weight"]),
        molecule_relations=len(given["param/mol_representation_learning.rel_encoder.weight"]),
        molecule_degrees=len(given["param/mol_atom_feature.degree_encoder.weight"]),
        knowledge_relations=len(given["param/node_representation_learning.rel_encoder.weight"]),
        knowledge_degrees=len(given["param/drug_node_feature.degree_encoder.weight"]),
    )


def _widths(given: Mapping[str, Given]) -> Widths:
    def rows(layer: str) -> int:
        return len(given.get(f"param/{layer}.weight", ()))

    # without any block there is nothing within one
    block = rows("mol_representation_learning.encoder.0.ffn.0")
    drug, pair = ((rows(f"{part}.0"), rows(f"{part}.3")) for part in ("fc1", "fc2"))
    return Widths(rows("fc1.6"), block, drug, pair)


def _graphs(given: Mapping[str, Given], channel: str, slot: str) -> list[Graph]:
    """The graphs of a batch, one by one."""

    def told(name: str) -> Array:
        return given[f"in/{channel}{slot}_{name}"]

    batch, paths = told("batch"), told("sp_edge_index")
    degree = np.bincount(told("edge_index")[1], minlength=len(batch))
    own = told("id") if channel == "sub" else np.zeros(len(batch))
    found = []
    for number in range(batch.max() + 1):
        inside, first = batch == number, int(np.argmax(batch == number))
        mine = inside[paths[0]]
        links = Links.of(paths[:, mine] - first, told("sp_value")[mine], told("sp_edge_rel")[mine])
        found.append(Graph(told("x")[inside], degree[inside], links, int(np.argmax(own[inside]))))
    return found
