"""Golden cases of GraphDTA: molecules and sequences as it reads them, and single steps of its four networks."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from affinity_letters import RESIDUES, letter_numbers
from affinity_steps import adam, step
from drug_graphs import canonical, drug_graphs
from layers import Proteins
from molecule_graphs import Molecules
from molecules import Molecule
from network import NETWORKS, Network, Sizes
from permafrost_sdk import Case
from torch import Tensor
from torch.nn import functional

Shapes = Mapping[str, tuple[int, ...]]


def reading(case: Case) -> dict[str, Any]:
    """Atoms and bonds of each molecule, and the letters of each sequence."""
    arrays, traces = case.arrays, {}
    for one in np.ravel(arrays["cases"]).tolist():
        (smiles,), (text,), (sequence,) = (
            arrays[f"c{one}_{part}"] for part in ("smiles_raw", "smiles_iso", "seq")
        )
        if canonical(smiles) != text:
            raise ValueError(f"c{one}: the canonical SMILES is {canonical(smiles)} and not {text}")
        (graph,) = drug_graphs([smiles])
        (length,) = case.about["shapes"][f"c{one}_target"]
        (letters,) = letter_numbers([sequence], RESIDUES, length, "sequences")
        traces |= {
            f"c{one}_natom": np.array(len(graph.atoms)),
            f"c{one}_x": graph.atoms,
            f"c{one}_edge_index": graph.bonds,
            f"c{one}_target": letters,
        }
    return traces


def steps(case: Case) -> dict[str, Any]:
    """Answers, gradients and steps of Adam without dropout; of a normalised network, its training mode too."""
    arrays = case.arrays
    shapes = {
        name: tuple(ast.literal_eval(shape)) for name, shape in zip(arrays["keys"], arrays["shapes"], strict=True)
    }
    network = _network(shapes, arrays["seed"].item(), arrays)
    y = torch.from_numpy(arrays["y"])
    drugs, proteins = _molecules(arrays), _proteins(arrays, shapes)
    everyone = torch.arange(len(y))

    def answers() -> Tensor:
        """One row per molecule and protein."""
        graph, counts = drugs.take(everyone), torch.ones_like(everyone)
        return network.pairs(network.drugs(graph, counts), network.targets(proteins))[:, None]

    traces: dict[str, Any] = {}
    if normalised := [name for name in shapes if name.endswith("running_mean")]:
        kept = {name: value.clone() for name, value in network.state_dict().items()}
        network.train()
        with torch.no_grad():
            traces["out_trainbn_nodrop"] = answers()
        for name in normalised:
            layer = name.removesuffix(".running_mean")
            for part in ("mean", "var"):
                traces[f"{layer}_running_{part}_after"] = network.get_buffer(f"{layer}.running_{part}").clone()
        network.load_state_dict(kept)
    network.eval()
    optimiser, losses = adam(network, 5e-4, 1e-8), []
    with torch.no_grad():
        traces["out_eval"] = answers()
    traces["mse_eval"] = functional.mse_loss(traces["out_eval"], y)
    (number_of_steps,) = case.about["shapes"]["adam_losses"]
    for number in range(number_of_steps):
        losses.append(float(step(functional.mse_loss(answers(), y), optimiser)))
        if not number:
            gradients = [_gradient(network, name) for name in arrays["grad_keys"]]
            traces["grad_l2"] = np.array([float(one.norm()) for one in gradients])
            traces["grad_sum"] = np.array([float(one.sum()) for one in gradients])
    with torch.no_grad():
        traces |= {"adam_losses": np.array(losses), f"out_after{number_of_steps}": answers()}
    return traces


def _gradient(network: Network, name: str) -> Tensor:
    gradient = network.get_parameter(name).grad
    if gradient is None:
        raise ValueError(f"{name} has no gradient")
    return gradient.double()


def _network(shapes: Shapes, seed: int, arrays: Mapping[str, Any]) -> Network:
    """With the weights that goldens of this benchmark say how to draw; it has all of them and no others."""
    kind, sizes = _sizes(shapes, len(RESIDUES) + 1)
    network = NETWORKS[kind](sizes, 0.0)
    drawn = {}
    for place, (name, shape) in enumerate(shapes.items()):
        fan = np.prod(shape[1:]) if len(shape) > 1 else 400
        value = np.random.RandomState(seed * 1000 + place).standard_normal(shape) / np.sqrt(fan)
        if name.endswith("running_var"):
            value = np.abs(value) + 0.5
        elif name.startswith("bn") and name.endswith(".weight"):
            value = value + 1
        drawn[name] = torch.from_numpy(value.astype(np.float32))
    network.load_state_dict(drawn)
    return network


def _sizes(shapes: Shapes, letters: int) -> tuple[str, Sizes]:
    """Which of the networks has layers of these names, and how wide they are."""
    if "gcn1.att_src" in shapes:
        kind, protein, drug = "gat", ("conv_xt1", "fc_xt1"), ["fc_g1"]
        layers = (shapes["gcn1.att_src"][2], shapes["gcn2.att_src"][2])
        atoms, heads = shapes["gcn1.lin.weight"][1], shapes["gcn1.att_src"][1]
    elif "conv1.att_src" in shapes:
        kind, protein, drug = "gat_gcn", ("conv_xt_1", "fc1_xt"), ["fc_g1", "fc_g2"]
        layers = (shapes["conv1.att_src"][2], shapes["conv2.lin.weight"][0])
        atoms, heads = shapes["conv1.lin.weight"][1], shapes["conv1.att_src"][1]
    else:
        kind, part = ("gin", "nn.2.weight") if "bn1.weight" in shapes else ("gcn", "lin.weight")
        protein, drug = ("conv_xt_1", "fc1_xt"), ["fc1_xd"] if kind == "gin" else ["fc_g1", "fc_g2"]
        layers = tuple(shape[0] for name, shape in shapes.items() if name.endswith(part) and name[:4] == "conv")
        first = "conv1.nn.0.weight" if kind == "gin" else "conv1.lin.weight"
        atoms, heads = shapes[first][1], 1
    filters, length, kernel = shapes[f"{protein[0]}.weight"]
    alphabet, embedding = shapes["embedding_xt.weight"]
    return kind, Sizes(
        layers=layers,
        drug=tuple(shapes[f"{name}.weight"][0] for name in drug),
        head=(shapes["fc1.weight"][0], shapes["fc2.weight"][0]),
        atoms=atoms,
        heads=heads,
        letters=alphabet,
        length=length,
        embedding=embedding,
        filters=filters,
        kernel=kernel,
        protein=shapes[f"{protein[1]}.weight"][0],
    )


def _molecules(arrays: Mapping[str, Any]) -> Molecules:
    """The molecules of a batch, each with its own atoms and bonds."""
    owner, bonds = np.asarray(arrays["batch"]), np.asarray(arrays["edge_index"])
    molecules = []
    for one in range(len(arrays["y"])):
        atoms = np.flatnonzero(owner == one)
        own = bonds[:, owner[bonds[0]] == one]
        places = np.searchsorted(atoms, own)
        molecules.append(Molecule(np.asarray(arrays["x"])[atoms], places, np.zeros(own.shape[1], dtype=np.int64)))
    return Molecules.of(molecules, torch.device("cpu"))


def _proteins(arrays: Mapping[str, Any], shapes: Shapes) -> Proteins:
    letters = torch.from_numpy(np.asarray(arrays["target"], dtype=np.int64))
    return Proteins.of(letters, shapes["embedding_xt.weight"][0])
