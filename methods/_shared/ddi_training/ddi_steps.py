"""One training step, and its replay on golden cases: `fit` and parity take the very same step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from ddi_sdk import Array, Case
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer


def adamw(model: nn.Module, parameters: Mapping[str, Any]) -> AdamW:
    """The trainer's optimiser. Its fused form takes the same steps in one pass over memory."""
    trained = [one for one in model.parameters() if one.requires_grad]
    return AdamW(trained, lr=parameters["learning_rate"], weight_decay=parameters["weight_decay"], fused=True)


def step(loss: Tensor, optimisers: Sequence[Optimizer]) -> Tensor:
    """All optimisers step along the gradient of the whole loss, which stays until the next step."""
    for one in optimisers:
        one.zero_grad()
    loss.backward()
    for one in optimisers:
        one.step()
    return loss.detach()


def steps(
    model: nn.Module, loss: Callable[[], Tensor], *, optimisers: Sequence[Optimizer], count: int = 3
) -> list[float]:
    """So many training steps on the same batch, and the loss before each."""
    model.train()
    return [float(step(loss(), optimisers)) for _ in range(count)]


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """A copy of everything the model has learned."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def named(module: nn.Module, prefix: str) -> dict[str, Array]:
    """The module's state under the goldens' names."""
    return {f"{prefix}/{name}": value.cpu().numpy() for name, value in state_of(module).items()}


def replay(model: nn.Module, loss: Callable[[], Tensor], *, optimisers: Sequence[Optimizer]) -> dict[str, Array]:
    """What the goldens tell of three steps: losses, gradients of the first, state after the last."""
    losses = steps(model, loss, optimisers=optimisers, count=1)
    gradients = {
        f"grad0/{name}": one.grad.cpu().numpy().copy()
        for name, one in model.named_parameters()
        if one.grad is not None
    }
    losses += steps(model, loss, optimisers=optimisers, count=2)
    return {"loss_steps": np.array(losses), **gradients, **named(model, "after3")}


def load_golden(model: nn.Module, case: Case) -> None:
    """Start from the case's parameters; what else the original keeps in its state is left to the method."""
    model.load_state_dict({name: torch.from_numpy(case.arrays[f"param/{name}"]) for name in model.state_dict()})


def golden_adamw(model: nn.Module, case: Case) -> AdamW:
    """The trainer's optimiser as the case describes it, e.g. "AdamW lr 1e-3 wd 1e-5"."""
    words = case.about["optimizer"].split()
    told = {
        name: float(words[words.index(word) + 1])
        for name, word in (("learning_rate", "lr"), ("weight_decay", "wd"))
    }
    return adamw(model, told)


def unchanged(model: nn.Module, case: Case) -> dict[str, Array]:
    """What the original keeps in its state and no step changes: what the case has and the model lacks."""
    trained = {f"param/{name}" for name in model.state_dict()}
    others = {name: array for name, array in case.arrays.items() if name.startswith("param/")}
    return {name.replace("param/", "after3/"): array for name, array in others.items() if name not in trained}


def golden_target(case: Case) -> Tensor:
    """The case's labels as a batch has them; a multilabel line ends with 1 (positive) or 0 (negative)."""
    label = torch.from_numpy(case.arrays["in/label"])
    if case.about["dataset"] != "twosides":
        return label
    return label[:, :-1] * (2 * label[:, -1:] - 1)
