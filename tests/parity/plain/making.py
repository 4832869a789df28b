"""Golden cases out of a definition: its answers, its first gradient, and its parameters after three steps.

In double precision, from parameters of single precision: how far a replay is apart is its own rounding.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

OF_THE_TRAINER = "AdamW lr 1e-3 wd 1e-5"

Arrays = dict[str, Any]
Parameters = dict[str, Tensor]


@dataclass
class Made:
    """A case before it is computed: shapes of what is trained, inputs, and outputs (with `loss`) by name."""

    name: str
    about: dict[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    inputs: Arrays
    answer: Callable[..., dict[str, Tensor]]
    # what the original keeps among its parameters and never trains
    constants: Arrays = field(default_factory=dict)
    optimiser: Callable[[Parameters], torch.optim.Optimizer] = lambda parameters: torch.optim.AdamW(
        parameters.values(), lr=1e-3, weight_decay=1e-5
    )
    # how far apart parameters are drawn
    spread: float = 0.3
    # the norm that gradients are cut to
    clipped: float = float("inf")
    # parameters that are others under a second name
    same: Mapping[str, str] = field(default_factory=dict)
    # arrays that are neither input, parameter nor answer
    beside: Arrays = field(default_factory=dict)
    # rows of an epoch that follows the three steps, with an optimiser of its own
    batches: Sequence[slice] = ()
    # whether nothing is told but the steps
    steps_alone: bool = False


def write(made: Made, folder: Path, draw: np.random.Generator) -> None:
    """NAME.npz and NAME.json; NAME holds the folder of the method."""
    drawn = {name: draw.normal(0, made.spread, shape).astype(np.float32) for name, shape in made.shapes.items()}
    given = {name: torch.tensor(one, dtype=torch.float64, requires_grad=True) for name, one in drawn.items()}
    arrays = {**made.beside, **{f"in/{name}": one for name, one in made.inputs.items()}}
    arrays |= _placed(made, "param", drawn)
    if not made.steps_alone:
        with torch.no_grad():
            out = made.answer(given)
        out["loss_eval"] = _rounded(made, out.pop("loss"))
        arrays |= {f"out/{name}": one for name, one in out.items()}
    optimiser, several = made.optimiser(given), defaultdict(list)
    for step in range(3):
        found = _stepped(made, given, optimiser)
        for name in {"loss", *_SEVERAL} & set(found):
            several["loss_steps" if name == "loss" else name].append(
                float(_rounded(made, found[name].detach()) if name == "loss" else found[name])
            )
        if not step:
            reached = {name: one.grad.clone() for name, one in given.items() if one.grad is not None}
            arrays |= {f"{_prefix('grad0', name)}/{name}": one for name, one in reached.items()}
        torch.nn.utils.clip_grad_norm_([one for one in given.values() if one.grad is not None], made.clipped)
        optimiser.step()
    arrays |= several | _placed(made, "after3", given)
    optimiser = made.optimiser(given)
    for rows in made.batches:
        _stepped(made, given, optimiser, rows)
        optimiser.step()
    arrays |= _placed(made, "after_train_epoch", given) if made.batches else {}
    path = folder / f"{made.name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{name: _plain(one) for name, one in arrays.items()})
    path.with_suffix(".json").write_text(
        json.dumps({"optimizer": OF_THE_TRAINER, **made.about, "case": made.name})
    )


# what is told of every step
_SEVERAL = ("loss_label", "loss_adv", "grl_coeff")


def _rounded(made: Made, loss: Tensor) -> Tensor:
    """The original's loss is of single precision, but where types have weights."""
    return loss if "loss_weight" in made.inputs else loss.float().double()


def _stepped(made: Made, given: Parameters, optimiser: torch.optim.Optimizer, *rows: slice) -> dict[str, Tensor]:
    """Gradients of the loss of some rows."""
    optimiser.zero_grad()
    found = made.answer(given, *rows)
    found["loss"].backward()
    return found


def _placed(made: Made, prefix: str, values: Arrays) -> Arrays:
    """The state under its names, with copies and constants."""
    values = values | {name: values[other] for name, other in made.same.items()} | made.constants
    # the next step writes over a tensor
    values = {name: one.detach().clone() if isinstance(one, Tensor) else one for name, one in values.items()}
    return {f"{_prefix(prefix, name)}/{name}": one for name, one in values.items()}


def _prefix(prefix: str, name: str) -> str:
    """SAGAN's discriminator has prefixes of its own."""
    return f"{prefix}_ad" if name.startswith("ad_layer") else prefix


def _plain(one: Any) -> np.ndarray:
    """Arrays in single precision as the original has them, numbers in double."""
    if not isinstance(one, Tensor):
        return np.asarray(one)
    array = one.detach().numpy()
    return array.astype(np.float32) if array.ndim else array


def linear(P: Parameters, name: str, given: Tensor) -> Tensor:
    """A layer with its bias, where it has one."""
    bias = P.get(f"{name}.bias")
    found = given @ P[f"{name}.weight"].T
    return found if bias is None else found + bias


def layer(name: str, outward: int, inward: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a layer with a bias."""
    return {f"{name}.weight": (outward, inward), f"{name}.bias": (outward,)}


@dataclass(frozen=True)
class Labels:
    """What a batch is told of its types, as goldens hold it, and the loss against that."""

    dataset: str
    types: int
    inputs: Arrays
    constants: Arrays

    @classmethod
    def drawn(cls, dataset: str, types: int, rows: int, draw: np.random.Generator) -> Labels:
        """One type per row, or several with a sign at the end."""
        if dataset == "drugbank":
            y = draw.integers(0, types, rows)
            return cls(dataset, types, {"label": np.eye(types, dtype=np.float32)[y]}, {})
        said = (draw.random((rows, types)) < 0.5).astype(np.float32)
        signs = (np.arange(rows) % 2 == 0).astype(np.float32)[:, None]
        weight = draw.uniform(0.1, 1, types)
        inputs = {"label": np.hstack([said, signs]), "loss_weight": weight}
        return cls(dataset, types, inputs, {"bceloss.weight": weight})

    def loss(self, logits: Tensor, *, entropy: bool = False) -> Tensor:
        """`entropy`: cross entropy, where others have binary cross entropy of the softmax."""
        label = torch.tensor(self.inputs["label"]).double()
        if self.dataset == "drugbank":
            shares = torch.softmax(logits, dim=1)
            return (
                -(label * shares.log()).sum(1).mean()
                if entropy
                else functional.binary_cross_entropy(shares, label)
            )
        said, sign = label[:, :-1], label[:, -1:]
        chances = torch.sigmoid(logits)
        terms = -(sign * chances.log() + (1 - sign) * (1 - chances).log()) * said
        return (torch.tensor(self.inputs["loss_weight"]) * terms).mean()
