"""Golden cases of TIGER: graphs, weights and labels come from the original, answers and steps are compared."""

from __future__ import annotations

import numpy as np
import torch
from channel import Channel
from ddi_sdk import Array, Case
from ddi_training import Batch, adamw, replay
from graphs import Graph, Links
from network import Network, Sizes
from training import Model

# of the goldens
TRAINED = {"learning_rate": 1e-3, "weight_decay": 1e-5}


def parity(case: Case) -> dict[str, Array]:
    """Answers without dropout of the original's weights, and three steps from them."""
    given = {name: one for name, one in case.arrays.items() if not isinstance(one, list)}
    state = {name[6:]: torch.from_numpy(one) for name, one in given.items() if name.startswith("param/")}
    weight, label = given.get("in/loss_weight"), torch.from_numpy(given["in/label"])
    types = len(state["fc2.6.bias"])
    network = Network(
        _sizes(state),
        types,
        width=len(state["fc1.6.bias"]),
        layers=2,
        heads=case.about["heads"],
        attended=False,
        dropout=0.0,
    )
    network.load_state_dict(state, strict=False)
    channels = [
        Channel.of(
            _graphs(given, name, "1") + _graphs(given, name, "2"), attended=False, device=torch.device("cpu")
        )
        for name in ("mol", "sub")
    ]
    model = Model(network, *channels, None if weight is None else torch.from_numpy(weight))
    # heads and tails of the case are drugs of their own
    pairs = torch.arange(2 * len(label)).view(2, -1).T
    target = label if weight is None else label[:, :types] * (2 * label[:, types:] - 1)
    batch = Batch(pairs, target, torch.arange(len(label)))
    network.eval()
    with torch.no_grad():
        logits, mutual = model.answer(pairs)
        found = {"out/logits": logits, "out/reserved_loss": mutual(), "out/loss_eval": model.loss(batch)}
    told = {name: one.numpy() for name, one in found.items()}
    if weight is not None:
        # a state of the original's loss, which nothing trains
        told["after3/bceloss.weight"] = weight
    return told | replay(network, lambda: model.loss(batch), optimisers=[adamw(network, TRAINED)])


def _sizes(state: dict[str, torch.Tensor]) -> Sizes:
    return Sizes(
        features=state["mol_atom_feature.node_encoder.weight"].shape[1],
        entities=len(state["drug_node_feature.node_encoder.weight"]),
        molecule_relations=len(state["mol_representation_learning.rel_encoder.weight"]),
        molecule_degrees=len(state["mol_atom_feature.degree_encoder.weight"]),
        knowledge_relations=len(state["node_representation_learning.rel_encoder.weight"]),
        knowledge_degrees=len(state["drug_node_feature.degree_encoder.weight"]),
    )


def _graphs(given: dict[str, Array], channel: str, slot: str) -> list[Graph]:
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
