"""The trainer that most methods of DDI-Ben share: epochs of shuffled batches, and one model per setting.

After each epoch the valid items of S0, S1 and S2 are predicted; each setting keeps the state with its highest
accuracy, and training ends when all of them have waited longer than `patience` for a better one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from ddi_examples import Batch, Examples
from ddi_items import cleaned, facts
from ddi_losses import LabelLoss, bce_of_softmax, label_loss, type_weights
from ddi_sdk import Answer, Array, Items, Problem
from ddi_selection import Scores, Selection, Validation
from ddi_steps import adamw, state_of, step
from torch import Tensor, nn

__all__ = [
    "Batch",
    "LabelLoss",
    "adamw",
    "bce_of_softmax",
    "cleaned",
    "device",
    "facts",
    "fingerprints",
    "fit",
    "in_chunks",
    "loss_of_labels",
    "state_of",
    "step",
    "type_weights",
]

Loss = Callable[[Batch], Tensor]


def device() -> torch.device:
    """The accelerator where the image and the machine have one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def fingerprints(problem: Problem) -> Array:
    """The drugs' fingerprints: how often each substructure occurs, or whether it does."""
    counts = problem.inputs["fingerprints"]
    known = counts if problem.parameters["fingerprint"] == "counts" else np.greater(counts, 0)
    return np.asarray(known, dtype=np.float32)


def loss_of_labels(problem: Problem, multiclass: LabelLoss = bce_of_softmax) -> LabelLoss:
    """The loss of logits and targets; of a multilabel dataset with types weighed as training has them."""
    return label_loss(type_weights(problem.train.labels).to(device()) if problem.multilabel else None, multiclass)


def fit(
    problem: Problem,
    model: nn.Module,
    loss: Loss,
    scores: Scores,
    *,
    per_pair: bool,
    drop_last: bool,
    train: Items | None = None,
    before_epoch: Callable[[int], None] | None = None,
) -> Answer:
    """Train on one example per ordered pair or per item, choose, and answer the test pairs.

    `loss` is asked in training mode; `scores` in evaluation mode without gradients, with all pairs at once, for
    logits of all types. Epochs count from 1. `train` are items to learn from in the place of the problem's; where
    their labels are type ids, examples are made as for a multiclass dataset.
    """
    parameters = problem.parameters
    where = next(model.parameters()).device
    learned = problem.train if train is None else train
    examples = Examples.of(learned, problem.types, per_pair=per_pair, device=where)
    validation, selection = Validation.of(problem), Selection(problem)
    optimiser = adamw(model, parameters)
    losses: list[float] = []
    for epoch in range(1, int(parameters["epochs"]) + 1):
        if before_epoch is not None:
            before_epoch(epoch)
        model.train()
        batches = examples.shuffled(int(parameters["batch_size"]), drop_last=drop_last)
        losses.append(float(torch.stack([step(loss(batch), optimiser) for batch in batches]).mean()))
        if len(validation.pairs):
            selection.see(epoch, validation.accuracies(_ask(model, scores, validation.pairs, where)), model)
        if selection.exhausted(int(parameters["patience"])):
            break
    last = dict.fromkeys(np.unique(problem.test_setting).tolist(), len(losses))
    chosen = {f"S{setting}": epoch for setting, epoch in sorted((last | selection.chosen).items())}
    best = {f"S{setting}": accuracy for setting, accuracy in sorted(selection.best.items())}
    return Answer(_answers(problem, model, scores, selection), len(losses), chosen, losses, best)


def _answers(problem: Problem, model: nn.Module, scores: Scores, selection: Selection) -> Array:
    """Each setting by its own model: logits, or probabilities of a multilabel dataset."""
    where, last = next(model.parameters()).device, state_of(model)
    answers = np.zeros((len(problem.test_pairs), problem.types), dtype=np.float32)
    for setting in np.unique(problem.test_setting).tolist():
        model.load_state_dict(selection.state(setting) or last)
        rows = problem.test_setting == setting
        pairs = torch.from_numpy(problem.test_pairs[rows].astype(np.int64))
        logits = torch.from_numpy(_ask(model, scores, pairs, where))
        answers[rows] = (torch.sigmoid(logits) if problem.multilabel else logits).numpy()
    return answers


def _ask(model: nn.Module, scores: Scores, pairs: Tensor, where: torch.device) -> Array:
    model.eval()
    with torch.no_grad():
        logits: Array = scores(pairs.to(where)).float().cpu().numpy()
    return logits


def in_chunks(scores: Scores, pairs: Tensor, size: int) -> Tensor:
    """The same scores, with memory for so many pairs only."""
    return torch.cat([scores(some) for some in pairs.split(size)])
