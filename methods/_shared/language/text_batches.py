"""How texts about pairs reach a model: token ids per pair, batches of similar length, an answer per pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from ddi_sdk import Array, Problem
from torch import Tensor, nn

# pairs whose texts exist at once, and that go through a model at once where nothing is learned
_BLOCK, _CHUNK = 4096, 32

# what draws anew each time; None where a pair's text is always the same
Draw = np.random.Generator | None


class Reader(Protocol):
    """Makes a model's arguments from pairs of drugs, in two steps, so that lengths are known in between."""

    def read(self, pairs: Array, draw: Draw) -> Sequence[Array]:
        """One array per pair."""
        ...

    def batch(self, texts: Sequence[Array]) -> tuple[Tensor, ...]:
        """Some of these arrays as the model's arguments."""
        ...


@dataclass(frozen=True)
class Texts:
    """A reader of one text per pair, cut to a largest number of tokens, special ones included."""

    text: Callable[[int, int, Draw], str]
    tokeniser: Callable[..., Any]
    longest: int
    fill: int

    def read(self, pairs: Array, draw: Draw) -> Sequence[Array]:
        """Token ids."""
        texts = [self.text(head, tail, draw) for head, tail in pairs.tolist()]
        found = self.tokeniser(texts, truncation=True, max_length=self.longest)["input_ids"] if texts else []
        return [np.asarray(ids, dtype=np.int32) for ids in found]

    def batch(self, texts: Sequence[Array]) -> tuple[Tensor, ...]:
        """Filled up to the longest of them."""
        return padded(texts, self.fill, max(len(text) for text in texts))


@dataclass(frozen=True)
class Features:
    """A reader of vectors that a frozen encoder gave, once for every distinct pair of a problem."""

    keys: Array
    vectors: Array
    drugs: int

    @classmethod
    def of(cls, problem: Problem, encoder: nn.Module, reader: Reader) -> Features:
        """Of all pairs that are trained on, chosen by or asked for."""
        pairs = np.concatenate([problem.train.pairs, problem.valid.pairs, problem.test_pairs])
        keys = np.unique(pairs[:, 0] * problem.drugs + pairs[:, 1])
        distinct = np.stack([keys // problem.drugs, keys % problem.drugs], axis=1)
        return cls(keys, answers(encoder, reader, distinct, None), problem.drugs)

    def read(self, pairs: Array, draw: Draw) -> Sequence[Array]:
        """Their vectors; nothing is drawn any more."""
        return list(self.vectors[np.searchsorted(self.keys, pairs[:, 0] * self.drugs + pairs[:, 1])])

    def batch(self, texts: Sequence[Array]) -> tuple[Tensor, ...]:
        """One matrix."""
        return (torch.from_numpy(np.stack(texts)),)


def padded(texts: Sequence[Array], fill: int, width: int) -> tuple[Tensor, Tensor]:
    """Ids and mask [B, width], texts first."""
    ids = np.full((len(texts), width), fill, dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text)], mask[row, : len(text)] = text, 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


def answers(model: nn.Module, reader: Reader, pairs: Array, draw: Draw) -> Array:
    """What the model, as it is now, says of every pair. Texts of similar length go through it together."""
    model.eval()
    where = device()
    found: list[Array] = []
    with torch.no_grad():
        for start in range(0, len(pairs), _BLOCK):
            texts = reader.read(pairs[start : start + _BLOCK], draw)
            order = np.argsort([len(text) for text in texts], kind="stable")
            chunks = [order[first : first + _CHUNK].tolist() for first in range(0, len(order), _CHUNK)]
            arguments = (reader.batch([texts[one] for one in chunk]) for chunk in chunks)
            rows = [model(*(one.to(where) for one in some)) for some in arguments]
            found.append(torch.cat(rows).cpu().numpy()[np.argsort(order)])
    return np.concatenate(found)


def device() -> torch.device:
    """The accelerator where the image and the machine have one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
