"""SSI-DDI and SAGAN as their definitions read: molecule by molecule, every pair with every type's matrix."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, sqrt

import numpy as np
import torch
from making import Arrays, Labels, Made, Parameters, layer, linear
from molecules import molecules_of
from torch import Tensor
from torch.nn import functional

SMILES = ["CCO", "c1ccccc1O", "[Na+].[Cl-]", "CC(=O)Nc1ccc(O)cc1", "[Li+]", "N#CC=C"]
ROWS = 5
# heads, width of each, rounds, types
SIZES = ((1, 6, 3, 5), (3, 2, 5, 4))
Drawn = list[tuple[np.ndarray, np.ndarray]]


def ssi_ddi(draw: np.random.Generator) -> Iterator[Made]:
    """Other heads, widths, rounds and types."""
    read = [(one.atoms, one.bonds) for one in molecules_of(SMILES)]
    for dataset, (heads, width, rounds, types) in zip(("drugbank", "twosides"), SIZES, strict=True):
        drugs, labels = draw.integers(0, len(SMILES), (2, ROWS)), Labels.drawn(dataset, types, ROWS, draw)
        inputs = {"smiles": np.array(SMILES), "h_index": drugs[0], "t_index": drugs[1], **labels.inputs}
        sides = [[read[drug] for drug in side] for side in drugs]
        for name, side in zip(("head", "tail"), sides, strict=True):
            inputs |= _together(name, side)

        def answer(
            P: Parameters, sides: list[Drawn] = sides, labels: Labels = labels, rounds: int = rounds
        ) -> dict[str, Tensor]:
            logits, features = _judged(P, *sides, rounds)
            return {"logits": logits, "final_layer": features, "loss": labels.loss(logits)}

        shapes, same = _shapes(read[0][0].shape[1], heads, width, rounds, types)
        about = {"dataset": dataset}
        yield Made(f"SSI-DDI/{dataset}_01", about, shapes, inputs, answer, labels.constants, same=same)


def sagan(draw: np.random.Generator) -> Iterator[Made]:
    """Also other features of atoms, random matrices, discriminators, weights and numbers of steps before."""
    for dataset, (heads, width, rounds, types), (random, hidden), weight, before in zip(
        ("drugbank", "twosides"), SIZES, ((7, 9), (10, 6)), (0.05, 0.2), (700, 40), strict=True
    ):
        labels, atoms = Labels.drawn(dataset, types, ROWS, draw), 4 + rounds
        names = ("head", "tail", "adv_head", "adv_tail")
        sides = {name: [_chain(draw, atoms) for _ in range(ROWS)] for name in names}
        inputs = dict(labels.inputs)
        for name, side in sides.items():
            inputs |= _together(name, side)
        rows = 2 * heads * width, types if dataset == "drugbank" else 2
        matrices = [draw.normal(size=(one, random)).astype(np.float32) for one in rows]
        forwards = iter(range(before + 1, before + 9))

        def answer(
            P: Parameters,
            sides: dict[str, Drawn] = sides,
            labels: Labels = labels,
            rounds: int = rounds,
            matrices: list[np.ndarray] = matrices,
            weight: float = weight,
            forwards: Iterator[int] = forwards,
        ) -> dict[str, Tensor]:
            strength = 2 / (1 + exp(-10 * next(forwards) / 10_000)) - 1
            source = _judged(P, sides["head"], sides["tail"], rounds)
            target = _judged(P, sides["adv_head"], sides["adv_tail"], rounds)
            logits, features = (torch.cat(both) for both in zip(source, target, strict=True))
            of_features, of_predictions = (torch.tensor(one).double() for one in matrices)
            if labels.dataset == "drugbank":
                shown = torch.softmax(logits.detach(), dim=1)[None]
            else:
                present = torch.sigmoid(logits.detach()).T
                shown = torch.stack([1 - present, present], dim=2)
            given = (features @ of_features / sqrt(of_features.shape[1])) * (shown @ of_predictions)
            given.register_hook(lambda gradient: -strength * gradient)
            for number in (1, 2):
                given = torch.relu(linear(P, f"ad_layer{number}", given))
            found = linear(P, "ad_layer3", given)[..., 0]
            truth = (torch.arange(2 * ROWS) < ROWS).double().expand_as(found)
            domains, of_labels = functional.binary_cross_entropy_with_logits(found, truth), labels.loss(source[0])
            told = {
                "loss_label": of_labels,
                "loss_adv": domains,
                "grl_coeff": torch.tensor(strength, dtype=torch.float64),
            }
            return told | {"loss": of_labels + weight * domains}

        shapes, same = _shapes(atoms, heads, width, rounds, types)
        for number, inward, outward in ((1, random, hidden), (2, hidden, hidden), (3, hidden, 1)):
            shapes |= layer(f"ad_layer{number}", outward, inward)
        beside = {f"const/random_matrix_{number}": one for number, one in enumerate(matrices)}
        beside["const/iter_num_start"] = np.array(before)
        about = {"dataset": dataset, "weight_adv": weight}
        told = {"same": same, "beside": beside, "steps_alone": True}
        yield Made(f"SAGAN/{dataset}_01", about, shapes, inputs, answer, labels.constants, **told)


def _chain(draw: np.random.Generator, features: int) -> tuple[np.ndarray, np.ndarray]:
    size = int(draw.integers(1, 5))
    along = np.stack([np.arange(size - 1), np.arange(1, size)])
    return draw.normal(size=(size, features)).astype(np.float32), np.concatenate([along, along[::-1]], axis=1)


def _together(name: str, side: Drawn) -> Arrays:
    """One graph of all molecules, side by side."""
    sizes = [len(atoms) for atoms, _ in side]
    firsts = np.cumsum(sizes) - sizes
    return {
        f"{name}_x": np.concatenate([atoms for atoms, _ in side]),
        f"{name}_edge_index": np.concatenate(
            [bonds + first for (_, bonds), first in zip(side, firsts, strict=True)], axis=1
        ),
        f"{name}_batch": np.repeat(np.arange(len(side)), sizes),
    }


def _judged(P: Parameters, heads: Drawn, tails: Drawn, rounds: int) -> tuple[Tensor, Tensor]:
    head, tail = (torch.stack([_encoded(P, *one, rounds) for one in side]) for side in (heads, tails))
    keys, queries = head @ P["co_attention.w_k"], tail @ P["co_attention.w_q"]
    weights = torch.tanh(keys[:, :, None] + queries[:, None] + P["co_attention.bias"]) @ P["co_attention.a"]
    types = functional.normalize(P["KGE.rel_emb.weight"], dim=1).view(-1, head.shape[2], head.shape[2])
    one, other = (functional.normalize(side, dim=2) for side in (head, tail))
    logits = torch.einsum("bij,bid,tde,bje->bt", weights, one, types, other)
    return logits, torch.cat([head.mean(dim=1), tail.mean(dim=1)], dim=1)


def _encoded(P: Parameters, atoms: np.ndarray, bonds: np.ndarray, rounds: int) -> Tensor:
    values, found = _normal(P, "initial_norm", torch.tensor(atoms).double()), []
    near = torch.zeros(len(atoms), len(atoms)).double()
    near[bonds[1], bonds[0]] = 1
    for number in range(rounds):
        name = f"block{number}"
        values = _attended(P, f"{name}.conv", values, near)
        scores = linear(P, f"{name}.readout.gnn.lin_rel", near @ values)
        scores = scores + linear(P, f"{name}.readout.gnn.lin_root", values)
        found.append((torch.softmax(scores, dim=0) * values).sum(dim=0))
        values = functional.elu(_normal(P, f"net_norms.{number}", values))
    return torch.stack(found)


def _attended(P: Parameters, name: str, values: Tensor, near: Tensor) -> Tensor:
    left, right = P[f"{name}.att_src"], P[f"{name}.att_dst"]
    sent = linear(P, f"{name}.lin_src", values).view(len(values), *left.shape[1:])
    strength = (sent * right).sum(dim=2)[:, None] + (sent * left).sum(dim=2)[None]
    strength = functional.leaky_relu(strength, 0.2)
    joined = (near + torch.eye(len(values)))[:, :, None] > 0
    weights = torch.softmax(strength.masked_fill(~joined, -torch.inf), dim=1)
    return torch.einsum("tsh,shd->thd", weights, sent).flatten(1) + P[f"{name}.bias"]


def _normal(P: Parameters, name: str, values: Tensor) -> Tensor:
    centred = values - values.mean()
    return centred / torch.sqrt((centred**2).mean() + 1e-5) * P[f"{name}.weight"] + P[f"{name}.bias"]


def _shapes(
    atoms: int, heads: int, width: int, rounds: int, types: int
) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    hidden, same = heads * width, {}
    half = hidden // 2
    shapes: dict[str, tuple[int, ...]] = {"initial_norm.weight": (atoms,), "initial_norm.bias": (atoms,)}
    for number in range(rounds):
        name = f"block{number}"
        shapes |= {f"net_norms.{number}.{part}": (hidden,) for part in ("weight", "bias")}
        shapes |= {f"{name}.conv.{part}": (1, heads, width) for part in ("att_src", "att_dst")}
        shapes[f"{name}.conv.bias"] = (hidden,)
        shapes[f"{name}.conv.lin_src.weight"] = (hidden, hidden if number else atoms)
        same[f"{name}.conv.lin_dst.weight"] = f"{name}.conv.lin_src.weight"
        shapes |= layer(f"{name}.readout.gnn.lin_rel", 1, hidden)
        shapes[f"{name}.readout.gnn.lin_root.weight"] = (1, hidden)
    shapes |= {f"co_attention.{name}": (hidden, half) for name in ("w_q", "w_k")}
    shapes |= {f"co_attention.{name}": (half,) for name in ("bias", "a")}
    return shapes | {"KGE.rel_emb.weight": (types, hidden * hidden)}, same
