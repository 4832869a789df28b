"""Golden cases of NeoDTI, run through the networks, the model and the steps that train."""

from __future__ import annotations

import numpy as np
import torch
from dti_sdk import Array, Pairs
from model import Model
from networks import BINDINGS, MESSAGES, NETWORKS, Network, counts_of
from permafrost_sdk import Case
from products import Cells
from torch import Tensor
from training import Given, Trainer, global_norm

# what the goldens call the kinds and networks
KINDS = {"drug": "drug", "target": "protein", "disease": "disease", "effect": "sideeffect"}
NAMES = {
    "drug-similarity": "drug_chemical",
    "target-similarity": "protein_sequence",
    **{
        name: "_".join(KINDS[one] for one in kinds) for name, kinds in NETWORKS.items() if "similarity" not in name
    },
}
LEARNING_RATE = 1e-3


def parity(case: Case) -> dict[str, Array]:
    """Networks, vectors, scores, losses and gradients of the first step, and what further steps lead to."""
    arrays = case.arrays
    normalised = {(kind, name): _network(arrays, kind, name).row_normalised for kind, name, _ in MESSAGES}
    networks = {name: _network(arrays, kinds[0], name) for name, kinds in NETWORKS.items()}
    model = _model(arrays, networks)
    rows, columns = np.nonzero(arrays["mask"])
    train = Pairs(np.column_stack([rows, columns]), networks[BINDINGS].dense[rows, columns])
    where = torch.device("cpu")
    given = Given.of(networks, normalised, train, where)
    trainer = Trainer(model, given, learning_rate=LEARNING_RATE, clip=arrays["clip"].item())
    every = np.argwhere(np.ones(networks[BINDINGS].shape))
    cells = Cells.of(every, networks[BINDINGS].shape, where)

    def scores(z: dict[str, Tensor]) -> Array:
        with torch.no_grad():
            return model.scores(z, cells).numpy().reshape(networks[BINDINGS].shape)

    z, losses = trainer.forward()
    terms = {NAMES.get(name, "l2"): float(loss.detach()) for name, loss in losses.items()}
    terms["total"] = sum(terms.values())
    trainer.gradients(losses)
    gradients = [torch.zeros(1) if one.grad is None else one.grad for one in model.in_order()]
    traces = {f"norm_{_name(kind, name)}": one.dense for (kind, name), one in normalised.items()}
    traces |= {f"{_short(kind)}_repr": vectors.detach().numpy() for kind, vectors in z.items()}
    traces |= {
        "pred": scores(z),
        "losses": np.array([terms[str(name)] for name in arrays["loss_names"]]),
        "grad_global_norm": global_norm(gradients).numpy(),
        "grad_l2": np.array([float(one.norm()) for one in gradients]),
    }
    totals = []
    for _ in range(case.about["shapes"]["train_losses"][0]):
        z, losses = trainer.forward()
        totals.append(sum(float(one.detach()) for one in losses.values()))
        traces["pred_last_step_before_update"] = scores(z)
        trainer.update(losses)
    return traces | {"train_losses": np.array(totals), "pred_after_steps": scores(trainer.forward()[0])}


def _name(kind: str, name: str) -> str:
    """What the goldens call a network from the side of one of its kinds."""
    one, other = NETWORKS[name]
    return NAMES[name] if kind == one else f"{KINDS[other]}_{KINDS[one]}"


def _short(kind: str) -> str:
    return "se" if kind == "effect" else KINDS[kind]


def _network(arrays: dict[str, Array], kind: str, name: str) -> Network:
    network = Network.of(arrays[f"net_{_name(kind, name)}"])
    return network.without_diagonal if NETWORKS[name][0] == NETWORKS[name][1] else network


def _model(arrays: dict[str, Array], networks: dict[str, Network]) -> Model:
    """With the case's parameters, all of them and no others."""
    given = [
        torch.as_tensor(arrays[name]) for name in sorted(arrays) if name.startswith("var") and name != "var_names"
    ]
    sizes = {"drug": "nd", "target": "np", "disease": "ndis", "effect": "nse"}
    counts = {kind: arrays[name].item() for kind, name in sizes.items()}
    if counts != counts_of(networks):
        raise ValueError(f"networks of {counts_of(networks)}, where the case says {counts}")
    model = Model(counts, arrays["d"].item(), arrays["k"].item())
    ours = model.in_order()
    if [one.shape for one in ours] != [one.shape for one in given]:
        raise ValueError("the case's parameters are not those of the model")
    with torch.no_grad():
        for parameter, start in zip(ours, given, strict=True):
            parameter.copy_(start)
    return model
