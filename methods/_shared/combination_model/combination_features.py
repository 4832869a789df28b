"""Batches of marked texts, and what the frozen layers say of each, computed once.

Markers are tokens of a text, so no layer says the same of two candidates of one sentence: what can be kept is kept
per candidate over epochs, in half precision, without anything that is filled up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from combination_classifier import CombinationClassifier
from permafrost_sdk import Array
from torch import Tensor

# tokens that go through the layers together where nothing is learned: they fit a processor's cache
_TOKENS = {"cpu": 2048, "cuda": 65536}


class Texts(Protocol):
    """Marked texts as token ids, made when they are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> Array: ...


class Source(Protocol):
    """What a model learns from: logits of some of the texts, in the order that they are named in."""

    def logits(self, rows: Sequence[int]) -> Tensor: ...


def padded(texts: Sequence[Array], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Ids [B, T], filled up with zeros to the longest, and the mask [B, T]; None where nothing is filled up."""
    lengths = [len(text) for text in texts]
    ids = np.zeros((len(texts), max(lengths)), dtype=np.int64)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
    if min(lengths) == max(lengths):
        return torch.from_numpy(ids).to(device), None
    mask = np.arange(ids.shape[1]) < np.array(lengths)[:, None]
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def by_length(lengths: Sequence[int], device: torch.device) -> Iterator[list[int]]:
    """Texts that go through the layers together: of one length, and not too many."""
    order = np.argsort(lengths, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(np.asarray(lengths)[order])) + 1) if len(order) else []
    for group in groups:
        size = max(1, _TOKENS[device.type] // max(1, lengths[group[0]]))
        for first in range(0, len(group), size):
            yield group[first : first + size].tolist()


@dataclass(frozen=True)
class Whole:
    """Every layer is computed anew whenever a text is asked for."""

    model: CombinationClassifier
    texts: Texts
    device: torch.device

    def logits(self, rows: Sequence[int]) -> Tensor:
        """In batches filled up to their longest text."""
        return self.model(*padded([self.texts[row] for row in rows], self.device))


@dataclass(frozen=True)
class Frozen:
    """What the layers below the last said of every text, one after another."""

    model: CombinationClassifier
    texts: Texts
    device: torch.device
    starts: Array
    vectors: Tensor

    @classmethod
    def of(cls, model: CombinationClassifier, texts: Texts, device: torch.device) -> Frozen:
        """Of all texts, those of one length together."""
        lengths = [len(texts[number]) for number in range(len(texts))]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        vectors = torch.empty(int(starts[-1]), model.bert.sizes.width, dtype=torch.float16)
        model.eval()
        with torch.inference_mode():
            for group in by_length(lengths, device):
                ids, mask = padded([texts[number] for number in group], device)
                lower = model.bert.lower(ids, mask).to("cpu", torch.float16)
                for number, own in zip(group, lower, strict=True):
                    vectors[starts[number] : starts[number + 1]] = own
        return cls(model, texts, device, starts, vectors)

    def logits(self, rows: Sequence[int]) -> Tensor:
        """Through the last layer alone."""
        ids, mask = padded([self.texts[row] for row in rows], self.device)
        vectors = torch.zeros(*ids.shape, self.vectors.shape[1])
        for place, row in enumerate(rows):
            own = self.vectors[self.starts[row] : self.starts[row + 1]]
            vectors[place, : len(own)] = own
        return self.model.upper(vectors.to(self.device), ids, mask)


def predicted(model: CombinationClassifier, texts: Texts, device: torch.device) -> Array:
    """The probabilities of all classes for each text, in order; nothing but them is kept."""
    model.eval()
    lengths = [len(texts[number]) for number in range(len(texts))]
    chances = np.empty((len(texts), model.classifier.out_features), dtype=np.float64)
    with torch.inference_mode():
        for group in by_length(lengths, device):
            logits = model(*padded([texts[number] for number in group], device))
            chances[group] = torch.softmax(logits.double(), dim=1).cpu().numpy()
    return chances
