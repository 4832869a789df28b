"""Domain adaptation: a pretrained encoder names masked words of a person's texts, and is kept in the same files.

Runs in a method's image: `/in` holds `weights/`, `corpus.txt` (one text per line) and `settings.json`, whose
entries change the settings below. `/out` gets the encoder's files and `adaptation.json`.

Texts stand one after another, each between [CLS] and [SEP], and are cut into blocks; what is left over is dropped.
Of a block's other pieces each is to be named with some chance. Then it is mostly masked, sometimes another piece,
sometimes as it is. The paper says 10 epochs at a rate of 5e-4 with those of Gururangan et al.; the README of the
authors passes neither, which leaves 3 epochs at 5e-5.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
from combination_bert import Bert
from combination_optimiser import optimiser_of, rate_at
from combination_training import device
from combination_weights import EncoderFilesError, WordHead, load_with_head, save_bert, words_of
from permafrost_sdk import Array
from torch import Tensor, nn
from torch.nn import functional
from word_pieces import WordPieces

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# lines that are cut into pieces at once
_LINES = 4096


@dataclass(frozen=True)
class Settings:
    """Of the paper, where it says them; a step's texts may go through the model in several parts."""

    epochs: int = 10
    learning_rate: float = 5e-4
    warm_up: float = 0.06
    first_beta: float = 0.9
    second_beta: float = 0.98
    weight_decay: float = 0.01
    clip: float = 1.0
    batch_size: int = 32
    part_size: int = 8
    length: int = 512
    chosen: float = 0.15
    masked: float = 0.8
    random: float = 0.1
    seed: int = 2021

    @classmethod
    def of(cls, changes: dict[str, float]) -> Settings:
        """With some changed."""
        known = {one.name: type(one.default) for one in fields(cls)}
        if strange := sorted(set(changes) - set(known)):
            raise ValueError(f"no setting {', '.join(strange)}: there are {', '.join(known)}")
        return cls(**{name: known[name](value) for name, value in changes.items()})


@dataclass(frozen=True)
class Masking:
    """Hides some pieces of a block, anew each time."""

    settings: Settings
    mask: int
    special: Tensor
    words: int

    def __call__(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The block as it is read, and which pieces are to be named."""
        settings, chance = self.settings, torch.rand(ids.shape)
        chosen = (torch.rand(ids.shape) < settings.chosen) & ~torch.isin(ids, self.special)
        others = torch.randint(self.words, ids.shape)
        read = torch.where(chosen & (chance < settings.masked), self.mask, ids)
        another = chosen & (chance >= settings.masked) & (chance < settings.masked + settings.random)
        return torch.where(another, others, read), chosen


def blocks_of(lines: Iterable[str], words: list[str], length: int) -> Array:
    """Pieces of all texts, as rows of so many."""
    pieces = WordPieces({word: number for number, word in enumerate(words)})
    parts: list[Array] = []
    some: list[str] = []

    def cut() -> None:
        parts.extend(np.array(one, dtype=np.int32) for one in pieces.encoded(some))
        some.clear()

    for line in lines:
        if text := line.strip():
            some.append(text)
        if len(some) == _LINES:
            cut()
    cut()
    flat = np.concatenate([*parts, np.zeros(0, np.int32)])
    if len(flat) < length:
        raise ValueError(f"the corpus has {len(flat)} word pieces, not one block of {length}: give more texts")
    return flat[: len(flat) // length * length].reshape(-1, length)


def adapt(bert: Bert, head: WordHead, blocks: Array, words: list[str], settings: Settings) -> list[float]:
    """Train all weights; the mean loss of each epoch."""
    where = device()
    model = nn.ModuleDict({"bert": bert, "head": head}).to(where)
    masking = Masking(
        settings, words.index("[MASK]"), torch.tensor([words.index(one) for one in _SPECIAL]), len(words)
    )
    betas = (settings.first_beta, settings.second_beta)
    optimiser = optimiser_of(model, settings.learning_rate, settings.weight_decay, betas)
    steps = settings.epochs * math.ceil(len(blocks) / settings.batch_size)
    losses, step = [], 0
    model.train()
    for _ in range(settings.epochs):
        total = 0.0
        for rows in torch.randperm(len(blocks)).split(settings.batch_size):
            optimiser.set_rate(settings.learning_rate * rate_at(step, steps, settings.warm_up))
            optimiser.zero_grad()
            ids = torch.from_numpy(blocks[rows.numpy()].astype(np.int64))
            read, chosen = masking(ids)
            count = max(int(chosen.sum()), 1)
            for part in torch.arange(len(ids)).split(settings.part_size):
                vectors = bert(read[part].to(where), None)[chosen[part].to(where)]
                scores = head(vectors, bert.embeddings.word_embeddings.weight)
                truth = ids[part][chosen[part]].to(where)
                loss = functional.cross_entropy(scores, truth, reduction="sum") / count
                loss.backward()
                total += float(loss.detach()) * len(rows)
            nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            optimiser.step()
            step += 1
        losses.append(total / len(blocks))
    return losses


def main() -> None:
    """From /in to /out."""
    inward, outward = (Path(os.environ.get(f"PERMAFROST_{one}", f"/{one.lower()}")) for one in ("IN", "OUT"))
    settings = Settings.of(json.loads((inward / "settings.json").read_text(encoding="utf-8")))
    torch.manual_seed(settings.seed)
    source = inward / "weights"
    bert, stored = load_with_head(source)
    words = words_of(source)
    if settings.length > bert.sizes.places or "[MASK]" not in words:
        raise EncoderFilesError(
            f"no block of {settings.length} can be masked: the encoder has {bert.sizes.places} places, and "
            + ("a [MASK]" if "[MASK]" in words else "no [MASK]"),
            source,
            "choose another length, or another encoder",
        )
    with (inward / "corpus.txt").open(encoding="utf-8") as lines:
        blocks = blocks_of(lines, words, settings.length)
    head = WordHead(bert, stored)
    losses = adapt(bert, head, blocks, words, settings)
    save_bert(bert, head.stored(), source, outward)
    said = [f"{len(blocks)} blocks of {settings.length} word pieces", *(f"loss {loss:.4f}" for loss in losses)]
    report = {"settings": vars(settings), "blocks": len(blocks), "losses": losses, "said": said}
    (outward / "adaptation.json").write_text(json.dumps(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
