"""What the goldens of the language models ask for: given weights in a model, and three steps of training it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from golden_cases import said_in
from permafrost_sdk import Array, Case
from text_training import adam, loss_of, update
from torch import Tensor, nn

# what cases were made with that say nothing of it: no array tells these
_UNSAID: Mapping[str, float] = {"num_attention_heads": 4, "layer_norm_eps": 1e-12}
_OPTIMISER = "Adam lr 1e-3 wd 1e-6"

# dropout is 0 in the goldens' steps
UNDROPPED: Mapping[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def setting_of(case: Case, name: str) -> float:
    """A setting that no weight tells, from the case's configuration where it has one."""
    return case.about.get("config", {}).get(name, _UNSAID[name])


def shape_of(case: Case, name: str) -> tuple[int, ...]:
    """The shape of a given weight."""
    return np.shape(case.arrays[f"param/{name}"])


def tensors(case: Case, *names: str) -> tuple[Tensor, ...]:
    """Some of the case's inputs."""
    return tuple(torch.tensor(case.arrays[f"in/{name}"]) for name in names)


def both_kinds(case: Case, model: nn.Module) -> dict[str, Array]:
    """Lines of several types: positive texts and negative ones of the same types, as they are trained on."""
    ids, negative_ids, mask, negative_mask, labels = tensors(
        case, "pos_input_ids", "neg_input_ids", "pos_mask", "neg_mask", "labels"
    )
    said = labels != 0
    signs = torch.cat([said.int(), -said.int()])
    shares = torch.full((len(signs),), 1 / len(signs))
    with torch.no_grad():
        positive, negative = (
            torch.sigmoid(model(*one)).numpy() for one in ((ids, mask), (negative_ids, negative_mask))
        )

    def loss() -> Tensor:
        logits = torch.cat([model(ids, mask), model(negative_ids, negative_mask)])
        return loss_of(logits, signs, shares)

    return {"out/pos_scores": positive, "out/neg_scores": negative} | replay(case, model, loss)


def replay(case: Case, model: nn.Module, loss: Callable[[], Tensor]) -> dict[str, Array]:
    """Losses of three steps, gradients before the first, weights after the last."""
    with torch.no_grad():
        told: dict[str, Array] = {"out/loss_eval": loss().numpy()}
    model.train()
    optimiser = adam(model, *said_in(case.about.get("optimizer", _OPTIMISER), "lr", "wd"))
    losses = []
    for step in range(3):
        found = loss()
        found.backward()
        losses.append(float(found.detach()))
        if not step:
            gradients = [(name, one.grad) for name, one in model.named_parameters() if one.grad is not None]
            told |= {f"grad0/{name}": one.numpy().copy() for name, one in gradients}
        update(model, optimiser)
    after = {f"after3/{name}": one.detach().numpy() for name, one in model.state_dict().items()}
    return told | {"loss_steps": np.array(losses)} | after
