"""Runs in GraphDTA's image: golden cases of other sizes by plain definitions in double precision, replayed.

Prints for each network how far apart every traced array is, relative to its largest value, and which of a layer
more and a layer less its replay refuses.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import golden
import numpy as np
import torch
from permafrost_sdk import Case
from torch import Tensor
from torch.nn import functional

warnings.simplefilter("ignore")
SEED, STEPS, RATE = 23, 3, 5e-4
ATOMS, HEADS, LETTERS, LENGTH, EMBEDDING, FILTERS, KERNEL, PROTEIN = 9, 3, 7, 13, 11, 4, 3, 6
DRUG, HEAD = 5, (8, 10)

Parameters = dict[str, Tensor]
Pool = Callable[[Tensor, str], Tensor]
Shapes = dict[str, tuple[int, ...]]


def linear(P: Parameters, name: str, values: Tensor) -> Tensor:
    return values @ P[f"{name}.weight"].T + P[f"{name}.bias"]


def layer(name: str, outward: int, inward: int) -> Shapes:
    return {f"{name}.weight": (outward, inward), f"{name}.bias": (outward,)}


def attention(P: Parameters, name: str, values: Tensor, near: Tensor) -> Tensor:
    left, right = P[f"{name}.att_src"][0], P[f"{name}.att_dst"][0]
    sent = (values @ P[f"{name}.lin.weight"].T).view(len(values), *left.shape)
    strength = functional.leaky_relu((sent * right).sum(2)[:, None] + (sent * left).sum(2)[None], 0.2)
    joined = (near + torch.eye(len(near)))[:, :, None] > 0
    weights = torch.softmax(strength.masked_fill(~joined, -torch.inf), dim=1)
    return torch.einsum("tsh,shd->thd", weights, sent).flatten(1) + P[f"{name}.bias"]


def convolution(P: Parameters, name: str, values: Tensor, near: Tensor) -> Tensor:
    looped = near + torch.eye(len(near)).double()
    scale = looped.sum(1) ** -0.5
    return scale[:, None] * looped * scale @ values @ P[f"{name}.lin.weight"].T + P[f"{name}.bias"]


def gcn(P: Parameters, x: Tensor, near: Tensor, pool: Pool, training: bool) -> Tensor:
    for number in (1, 2):
        x = torch.relu(convolution(P, f"conv{number}", x, near))
    return linear(P, "fc_g2", torch.relu(linear(P, "fc_g1", pool(x, "amax"))))


def gat(P: Parameters, x: Tensor, near: Tensor, pool: Pool, training: bool) -> Tensor:
    x = torch.relu(attention(P, "gcn2", functional.elu(attention(P, "gcn1", x, near)), near))
    return torch.relu(linear(P, "fc_g1", pool(x, "amax")))


def gat_gcn(P: Parameters, x: Tensor, near: Tensor, pool: Pool, training: bool) -> Tensor:
    x = torch.relu(convolution(P, "conv2", torch.relu(attention(P, "conv1", x, near)), near))
    x = torch.cat([pool(x, "amax"), pool(x, "mean")], dim=1)
    return linear(P, "fc_g2", torch.relu(linear(P, "fc_g1", x)))


def gin(P: Parameters, x: Tensor, near: Tensor, pool: Pool, training: bool) -> Tensor:
    for number in (1, 2, 3):
        name, norm = f"conv{number}", f"bn{number}"
        x = (1 + P[f"{name}.eps"]) * x + near @ x
        x = torch.relu(linear(P, f"{name}.nn.2", torch.relu(linear(P, f"{name}.nn.0", x))))
        running = [P[f"{norm}.running_{part}"] for part in ("mean", "var")]
        x = functional.batch_norm(x, *running, P[f"{norm}.weight"], P[f"{norm}.bias"], training)
    return torch.relu(linear(P, "fc1_xd", pool(x, "sum")))


def shapes_of(kind: str) -> Shapes:
    """Other widths than the published ones."""
    shapes: Shapes = {}
    if kind == "gcn":
        for number, inward, outward in ((1, ATOMS, 4), (2, 4, 6)):
            shapes |= {f"conv{number}.bias": (outward,), f"conv{number}.lin.weight": (outward, inward)}
        shapes |= layer("fc_g1", 12, 6) | layer("fc_g2", DRUG, 12)
    elif kind == "gin":
        for number in (1, 2, 3):
            shapes |= {f"conv{number}.eps": (1,)}
            shapes |= layer(f"conv{number}.nn.0", 5, 5 if number > 1 else ATOMS) | layer(
                f"conv{number}.nn.2", 5, 5
            )
            parts = ("weight", "bias", "running_mean", "running_var")
            shapes |= {f"bn{number}.{part}": (5,) for part in parts}
        shapes |= layer("fc1_xd", DRUG, 5)
    else:
        first, width = ("gcn1" if kind == "gat" else "conv1"), 4
        shapes |= {f"{first}.att_src": (1, HEADS, width), f"{first}.att_dst": (1, HEADS, width)}
        shapes |= {f"{first}.bias": (HEADS * width,), f"{first}.lin.weight": (HEADS * width, ATOMS)}
        if kind == "gat":
            shapes |= {"gcn2.att_src": (1, 1, 7), "gcn2.att_dst": (1, 1, 7)}
            shapes |= {"gcn2.bias": (7,), "gcn2.lin.weight": (7, HEADS * width)} | layer("fc_g1", DRUG, 7)
        else:
            shapes |= {"conv2.bias": (7,), "conv2.lin.weight": (7, HEADS * width)}
            shapes |= layer("fc_g1", 12, 14) | layer("fc_g2", DRUG, 12)
    names = ("conv_xt1", "fc_xt1") if kind == "gat" else ("conv_xt_1", "fc1_xt")
    shapes |= {"embedding_xt.weight": (LETTERS, EMBEDDING), f"{names[0]}.weight": (FILTERS, LENGTH, KERNEL)}
    shapes |= {f"{names[0]}.bias": (FILTERS,)} | layer(names[1], PROTEIN, FILTERS * (EMBEDDING - KERNEL + 1))
    return (
        shapes | layer("fc1", HEAD[0], DRUG + PROTEIN) | layer("fc2", HEAD[1], HEAD[0]) | layer("out", 1, HEAD[1])
    )


def drawn(shapes: Shapes) -> Parameters:
    """By the rule that the goldens' authors gave."""
    found = {}
    for place, (name, shape) in enumerate(shapes.items()):
        value = np.random.RandomState(SEED * 1000 + place).standard_normal(shape)
        value = value / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 400)
        if name.endswith("running_var"):
            value = np.abs(value) + 0.5
        elif name.startswith("bn") and name.endswith(".weight"):
            value = value + 1
        found[name] = torch.from_numpy(value.astype(np.float32)).double()
    return found


def graph(draw: np.random.Generator) -> dict[str, Any]:
    """Chains of atoms, one of them alone, the last bond turned round."""
    sizes = (3, 1, 5, 4)
    firsts = np.cumsum(sizes) - sizes
    along = [np.stack([np.arange(n - 1), np.arange(1, n)]) + first for n, first in zip(sizes, firsts, strict=True)]
    bonds = np.concatenate(along, axis=1)
    return {
        "x": draw.random((sum(sizes), ATOMS)).astype(np.float32),
        "edge_index": np.concatenate([bonds, bonds[::-1]], axis=1),
        "batch": np.repeat(np.arange(len(sizes)), sizes),
        "target": draw.integers(0, LETTERS, (len(sizes), LENGTH)),
        "y": draw.normal(size=(len(sizes), 1)).astype(np.float32),
    }


def case_of(kind: str, draw: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a replay is handed, and what it must come to."""
    arrays, shapes = graph(draw), shapes_of(kind)
    P = drawn(shapes)
    x, target, y = torch.tensor(arrays["x"]).double(), torch.tensor(arrays["target"]), torch.tensor(arrays["y"])
    owner, near = torch.tensor(arrays["batch"]), torch.zeros(len(x), len(x)).double()
    near[arrays["edge_index"][1], arrays["edge_index"][0]] = 1
    names = ("conv_xt1", "fc_xt1") if kind == "gat" else ("conv_xt_1", "fc1_xt")

    def pool(values: Tensor, how: str) -> Tensor:
        return torch.stack([getattr(values[owner == one], how)(0) for one in range(len(y))])

    def answers(training: bool = False) -> Tensor:
        drugs = {"gcn": gcn, "gat": gat, "gat_gcn": gat_gcn, "gin": gin}[kind](P, x, near, pool, training)
        embedded = P["embedding_xt.weight"][target]
        found = functional.conv1d(embedded, P[f"{names[0]}.weight"], P[f"{names[0]}.bias"])
        found = torch.relu(found) if kind == "gat" else found
        values = torch.cat([drugs, linear(P, names[1], found.flatten(1))], dim=1)
        for name in ("fc1", "fc2"):
            values = torch.relu(linear(P, name, values))
        return linear(P, "out", values)

    out: dict[str, Any] = {}
    if kind == "gin":
        kept = {name: one.clone() for name, one in P.items()}
        out["out_trainbn_nodrop"] = answers(training=True)
        for number in (1, 2, 3):
            for part in ("mean", "var"):
                out[f"bn{number}_running_{part}_after"] = P[f"bn{number}.running_{part}"].clone()
        P.update(kept)
    trained = [name for name in shapes if "running" not in name and not name.endswith("eps")]
    for name in trained:
        P[name].requires_grad_()
    moments = {name: [torch.zeros_like(P[name])] * 2 for name in trained}
    losses = []
    for number in range(1, STEPS + 1):
        found = answers()
        loss = (found - y).square().mean()
        losses.append(loss.item())
        gradients = dict(zip(trained, torch.autograd.grad(loss, [P[name] for name in trained]), strict=True))
        if number == 1:
            out |= {"out_eval": found.detach(), "mse_eval": loss.item()}
            out["grad_l2"] = [gradients[name].norm().item() for name in trained]
            out["grad_sum"] = [gradients[name].sum().item() for name in trained]
        for name, gradient in gradients.items():
            first, second = moments[name]
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            moments[name] = [first, second]
            change = first / (1 - 0.9**number) / ((second / (1 - 0.999**number)).sqrt() + 1e-8)
            P[name] = (P[name].detach() - RATE * change).requires_grad_()
    out |= {"adam_losses": losses, f"out_after{STEPS}": answers().detach()}
    arrays |= {"seed": np.array([SEED]), "keys": list(shapes), "shapes": [str(one) for one in shapes.values()]}
    return {**arrays, "grad_keys": trained}, out


def refused(arrays: dict[str, Any], about: dict[str, Any]) -> list[str]:
    """Which of a layer more and a layer less a replay will not take."""
    keys, shapes, found = list(arrays["keys"]), list(arrays["shapes"]), []
    changes = {"more": (["fc3.weight", *keys], ["(2, 2)", *shapes]), "less": (keys[:-1], shapes[:-1])}
    for name, (some, theirs) in changes.items():
        try:
            golden.steps(Case({**arrays, "keys": some, "shapes": theirs}, about))
        except RuntimeError:
            found.append(name)
    return found


def main() -> None:
    """All four networks."""
    draw = np.random.default_rng(20260212)
    apart: dict[str, dict[str, float]] = {}
    strict: dict[str, list[str]] = {}
    for kind in ("gcn", "gat", "gat_gcn", "gin"):
        arrays, wanted = case_of(kind, draw)
        about = {"shapes": {"adam_losses": [STEPS]}}
        traces = golden.steps(Case(arrays, about))
        assert set(traces) == set(wanted), set(traces) ^ set(wanted)
        apart[kind] = {}
        for name, one in wanted.items():
            ours, theirs = (np.asarray(value, dtype=np.float64) for value in (traces[name], one))
            apart[kind][name] = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        strict[kind] = refused(arrays, about)
    sys.stdout.write(json.dumps({"apart": apart, "refused": strict}) + "\n")


main()
