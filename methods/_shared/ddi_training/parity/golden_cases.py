"""What replays of golden cases share: the case's parameters in a model, its loss, and three steps of training."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import torch
from ddi_losses import LabelLoss, bce_of_softmax, label_loss
from ddi_steps import adamw, state_of, step
from permafrost_sdk import Array, Case
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer


def named(module: nn.Module, prefix: str) -> dict[str, Array]:
    """The module's state under the goldens' names."""
    return {f"{prefix}/{name}": value.cpu().numpy() for name, value in state_of(module).items()}


def replay(model: nn.Module, loss: Callable[[], Tensor], optimiser: Optimizer) -> dict[str, Array]:
    """What the goldens tell of three steps: losses, gradients of the first, state after the last."""
    model.train()
    losses = [float(step(loss(), optimiser))]
    gradients = {
        f"grad0/{name}": one.grad.cpu().numpy().copy()
        for name, one in model.named_parameters()
        if one.grad is not None
    }
    losses += [float(step(loss(), optimiser)) for _ in range(2)]
    return {"loss_steps": np.array(losses), **gradients, **named(model, "after3")}


def load_golden(model: nn.Module, case: Case, *, read: Collection[str] = ()) -> None:
    """Start from all of the case's parameters and no others, but for those that the method has read itself."""
    given = {name.removeprefix("param/"): one for name, one in case.arrays.items() if name.startswith("param/")}
    model.load_state_dict({name: torch.as_tensor(one) for name, one in given.items() if name not in read})


def blocks_of(case: Case, prefix: str) -> int:
    """How many numbered blocks there are whose parameters' names begin so."""
    starts = [name.removeprefix(f"param/{prefix}") for name in case.arrays if name.startswith(f"param/{prefix}")]
    return len({start.split(".")[0] for start in starts})


def said_in(text: str, *words: str) -> list[float]:
    """The numbers that follow these words, e.g. lr and wd in "AdamW lr 1e-3 wd 1e-5"."""
    said = text.replace(",", " ").split()
    return [float(said[said.index(word) + 1]) for word in words]


def golden_adamw(model: nn.Module, case: Case) -> AdamW:
    """The trainer's optimiser as the case describes it."""
    learning_rate, weight_decay = said_in(case.about["optimizer"], "lr", "wd")
    return adamw(model, {"learning_rate": learning_rate, "weight_decay": weight_decay})


def golden_loss(case: Case, multiclass: LabelLoss = bce_of_softmax) -> LabelLoss:
    """Of logits and targets; the cases of a multilabel dataset have weights of types."""
    weight = case.arrays.get("in/loss_weight")
    return label_loss(None if weight is None else torch.from_numpy(weight), multiclass)


def golden_target(case: Case) -> Tensor:
    """The case's labels as a batch has them; a multilabel line ends with 1 (positive) or 0 (negative)."""
    label = torch.from_numpy(case.arrays["in/label"])
    if case.about["dataset"] != "twosides":
        return label
    return label[:, :-1] * (2 * label[:, -1:] - 1)
