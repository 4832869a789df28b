"""How the classifier is trained: as published, or with warm-up, shuffling and an epoch chosen on other texts."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from combination_bert import Bert
from combination_classifier import CombinationClassifier, choose_trained, loss_of
from combination_features import Frozen, Source, Texts, Whole
from combination_optimiser import optimiser_of, rate_at
from marked_texts import MARKERS
from permafrost_sdk import Array
from torch import Tensor

# what the frozen layers say of all texts is kept where it needs no more than this
_KEPT_BYTES = 3 << 29


@dataclass(frozen=True)
class Course:
    """The settings of a training, by their names in the cards."""

    strategy: str
    train_words: bool
    frozen_dropout: bool
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    schedule: str
    warm_up: float
    shuffle: bool
    choose_epoch: bool
    class_weights: str

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Course:
        """Those of a job."""
        return cls(**{name: parameters[name] for name in cls.__dataclass_fields__})

    @property
    def weights(self) -> list[float]:
        """Of classes, as shares of their sum; none where all count alike."""
        return [float(one) for one in self.class_weights.split()]

    def rate(self, step: int, steps: int) -> float:
        """Of one step among so many."""
        shares = {"constant": 1.0, "linear": rate_at(step, steps, self.warm_up)}
        return self.learning_rate * shares[self.schedule]


@dataclass
class Fit:
    """A trained model and what there is to say of its training."""

    model: CombinationClassifier
    device: torch.device
    losses: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    epoch: int = 0


def device() -> torch.device:
    """The accelerator where the image and the machine have one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def new_model(bert: Bert, classes: int) -> CombinationClassifier:
    """A classifier over a pretrained encoder; the head is drawn first, then the markers, as in the original."""
    model = CombinationClassifier(bert, classes)
    bert.add_words(len(MARKERS))
    return model


def fit(
    model: CombinationClassifier,
    course: Course,
    texts: Texts,
    labels: Sequence[int],
    held_out: Texts | None = None,
    held_out_labels: Sequence[int] = (),
) -> Fit:
    """Train on the texts in their order. Held out ones are read where they choose the epoch, and not otherwise."""
    where = device()
    model.to(where)
    choose_trained(model, course.strategy, words=course.train_words)
    source = _source(model, texts, course, where)
    choosing = course.choose_epoch and held_out is not None and len(held_out) > 0
    others = _source(model, held_out, course, where) if choosing and held_out is not None else None
    optimiser = optimiser_of(model, course.learning_rate, course.weight_decay)
    truth = torch.tensor(labels, device=where)
    steps, step = course.epochs * math.ceil(len(labels) / course.batch_size), 0
    result, best = Fit(model, where), math.inf
    chosen: dict[str, Tensor] = {}
    for epoch in range(1, course.epochs + 1 if labels else 1):
        _train_mode(model, course)
        losses = []
        for rows in _batches(len(labels), course):
            optimiser.set_rate(course.rate(step, steps))
            loss = loss_of(source.logits(rows), truth[rows], course.weights)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.detach())
            step += 1
        result.losses.append(float(torch.stack(losses).mean()))
        result.epoch = epoch
        if others is None:
            continue
        result.held_out.append(_mean_loss(model, others, held_out_labels, course, where))
        if result.held_out[-1] < best:
            best, chosen = result.held_out[-1], _state(model)
            chosen_epoch = epoch
    if chosen:
        model.load_state_dict(chosen, strict=False)
        result.epoch = chosen_epoch
    model.eval()
    return result


def _source(model: CombinationClassifier, texts: Texts, course: Course, where: torch.device) -> Source:
    """Kept vectors of the frozen layers where these always say the same, else the whole model."""
    same = course.strategy == "final-bert-layer" and not course.train_words and not course.frozen_dropout
    tokens = sum(len(texts[number]) for number in range(len(texts))) if same else 0
    if same and 2 * tokens * model.bert.sizes.width <= _KEPT_BYTES:
        return Frozen.of(model, texts, where)
    return Whole(model, texts, where)


def _train_mode(model: CombinationClassifier, course: Course) -> None:
    """Dropout everywhere, or in the last layer and the head alone."""
    model.train()
    if not course.frozen_dropout:
        model.bert.embeddings.eval()
        for layer in model.bert.encoder.layer[:-1]:
            layer.eval()


def _batches(count: int, course: Course) -> Iterator[list[int]]:
    """Rows of an epoch: in their order, as in the original, or in one from torch's stream."""
    order: Array = torch.randperm(count).numpy() if course.shuffle else np.arange(count)
    for first in range(0, count, course.batch_size):
        yield order[first : first + course.batch_size].tolist()


def _mean_loss(
    model: CombinationClassifier, source: Source, labels: Sequence[int], course: Course, where: torch.device
) -> float:
    """Of held out texts, without dropout."""
    model.eval()
    total = 0.0
    with torch.no_grad():
        for first in range(0, len(labels), course.batch_size):
            rows = list(range(first, min(first + course.batch_size, len(labels))))
            truth = torch.tensor([labels[row] for row in rows], device=where)
            total += float(loss_of(source.logits(rows), truth)) * len(rows)
    return total / len(labels)


def _state(model: CombinationClassifier) -> dict[str, Tensor]:
    """A copy of all that learns."""
    trained = {name: one.detach() for name, one in model.named_parameters() if one.requires_grad}
    return copy.deepcopy(trained)
