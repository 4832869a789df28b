"""How the language models are trained: Adam with clipping, and for every setting the model that did best there.

After each epoch the valid items of S0, S1 and S2 are predicted. Where a setting's score is as good as its best or
better, its test pairs are answered at once, so that no copy of a large model is kept. Training ends when that was
so for no setting for more than `patience` epochs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from ddi_items import cleaned
from ddi_sdk import SETTINGS, Answer, Array, Items, Problem
from text_batches import Draw, Reader, answers, device
from text_measures import accuracy, roc_auc
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import Adam

CLIP = 1.0
_TRAINING, _VALID, _TEST = range(3)


def adam(model: nn.Module, learning_rate: float, weight_decay: float) -> Adam:
    """Decays all but what is called bias or LayerNorm.weight: BioGPT's norms have another name and are decayed."""
    trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
    spared = {name for name in trained if "bias" in name or "LayerNorm.weight" in name}
    groups = [
        {"params": [trained[name] for name in trained if (name in spared) is kept], "weight_decay": decay}
        for kept, decay in ((False, weight_decay), (True, 0.0))
    ]
    return Adam(groups, lr=learning_rate, betas=(0.9, 0.98), fused=True)


def update(model: nn.Module, optimiser: Adam) -> None:
    """One step along the gradients that have come together."""
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimiser.step()
    optimiser.zero_grad()


def loss_of(logits: Tensor, labels: Tensor, shares: Tensor) -> Tensor:
    """Cross entropy of type ids; of lines of several types the mean binary one over what a line says anything of.

    Every row counts by its share.
    """
    if labels.ndim == 1:
        return (functional.cross_entropy(logits, labels, reduction="none") * shares).sum()
    said, truth = labels != 0, (labels > 0).to(logits.dtype)
    entries = functional.binary_cross_entropy(torch.sigmoid(logits), truth, reduction="none") * said
    return (entries.sum(dim=1) / said.sum(dim=1).clamp(min=1) * shares).sum()


@dataclass(frozen=True)
class Units:
    """What is shuffled: an item, or a positive line with the negative one that follows and says the same types."""

    first: Array
    sizes: Array

    @classmethod
    def of(cls, items: Items) -> Units:
        """All items, each in one unit."""
        labels = items.labels
        follows = np.zeros(len(labels), dtype=bool)
        if labels.ndim == 2:
            positive, said = (labels > 0).any(axis=1), labels != 0
            follows[1:] = positive[:-1] & ~positive[1:] & (said[:-1] == said[1:]).all(axis=1)
        first = np.flatnonzero(~follows)
        return cls(first, np.diff(first, append=len(labels)))

    def shuffled(self, size: int) -> Iterator[tuple[Array, Array]]:
        """So many units at a time, in an order from torch's stream: rows of items, and the share of each row."""
        for units in torch.randperm(len(self.first)).split(size):
            first, sizes = self.first[units.numpy()], self.sizes[units.numpy()]
            rows = np.concatenate([np.arange(one, one + length) for one, length in zip(first, sizes, strict=True)])
            yield rows, np.repeat(1 / (sizes * len(sizes)), sizes)


def fit(problem: Problem, model: nn.Module, reader: Reader) -> Answer:
    """Train, choose and answer: logits, or probabilities of several types at once."""
    told, units, problem = problem.parameters, Units.of(problem.train), cleaned(problem)
    model.to(device())
    optimiser = adam(model, told["learning_rate"], told["weight_decay"])
    scores = np.zeros((len(problem.test_pairs), problem.types), dtype=np.float32)
    asked = set(np.unique(problem.test_setting).tolist())
    best: dict[int, float] = {}
    chosen: dict[int, int] = {}
    losses: list[float] = []
    for epoch in range(1, int(told["epochs"]) + 1):
        losses.append(_epoch(problem, units, model, reader, optimiser, epoch))
        found = _measured(problem, model, reader, epoch)
        better = {one for one, score in found.items() if score >= best.get(one, -np.inf)}
        best |= {one: found[one] for one in better}
        # a setting that nothing was measured in is answered by the last model there is
        chosen |= dict.fromkeys(better | asked - set(found), epoch)
        rows = np.isin(problem.test_setting, [one for one in asked if chosen[one] == epoch])
        if rows.any():
            scores[rows] = answers(model, reader, problem.test_pairs[rows], _draw(problem, epoch, _TEST))
        if found and all(epoch - chosen[one] > told["patience"] for one in found):
            break
    if problem.multilabel:
        scores = torch.sigmoid(torch.from_numpy(scores)).numpy()
    chosen_by_name, best_by_name = ({SETTINGS[one]: of[one] for one in sorted(of)} for of in (chosen, best))
    return Answer(scores, len(losses), chosen_by_name, losses, best_by_name)


def _epoch(problem: Problem, units: Units, model: nn.Module, reader: Reader, optimiser: Adam, epoch: int) -> float:
    """The mean loss of an epoch. Gradients of several batches come together before a step; the original's first
    step of an epoch has one batch alone, and its last batches wait for the next epoch.
    """
    told, train = problem.parameters, problem.train
    kind = "multilabel_" if problem.multilabel else ""
    gathered, where = int(told[f"{kind}accumulate"]), device()
    draw = _draw(problem, epoch, _TRAINING)
    losses = []
    model.train()
    for step, (rows, shares) in enumerate(units.shuffled(int(told[f"{kind}batch_size"]))):
        texts = reader.batch(reader.read(train.pairs[rows], draw))
        labels = torch.from_numpy(train.labels[rows].astype(np.int64)).to(where)
        logits = model(*(one.to(where) for one in texts))
        loss = loss_of(logits, labels, torch.from_numpy(shares.astype(np.float32)).to(where))
        loss.backward()
        losses.append(loss.detach())
        if step % gathered == int(told["first_update"]) % gathered:
            update(model, optimiser)
    return float(torch.stack(losses).mean())


def _measured(problem: Problem, model: nn.Module, reader: Reader, epoch: int) -> dict[int, float]:
    """Per setting with valid items: accuracy, or of several types at once the mean ROC-AUC."""
    valid, measure = problem.valid, roc_auc if problem.multilabel else accuracy
    if not len(valid.pairs):
        return {}
    scores = answers(model, reader, valid.pairs, _draw(problem, epoch, _VALID))
    settings = {one: valid.setting == one for one in np.unique(valid.setting).tolist()}
    found = {one: measure(scores[rows], valid.labels[rows]) for one, rows in settings.items()}
    return {one: score for one, score in found.items() if np.isfinite(score)}


def _draw(problem: Problem, epoch: int, purpose: int) -> Draw:
    """What draws sentences: anew each time, or None where an evaluation reads what it always read."""
    if purpose != _TRAINING and problem.parameters.get("evaluation_draw") == "fixed":
        return None
    return np.random.default_rng((problem.seed, epoch, purpose))
