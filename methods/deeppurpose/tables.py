"""What the package's encoders read of each drug or target, made once per text and not once per pair."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from package import quietly, utils
from torch import Tensor, nn

# what an encoder is called with; a transformer takes numbers of subwords and which of them are real
Input = Tensor | tuple[Tensor, Tensor]

_FEATURES = {"Morgan": utils.smiles2morgan, "Daylight": utils.smiles2daylight, "AAC": utils.target2aac}


class Table(Protocol):
    """Encoded texts. `lengths` say how much of each row is its own; what comes after is the same in all rows."""

    lengths: Tensor

    def batch(self, rows: Tensor) -> Input:
        """What the encoder reads of these rows, cut where none of them says any more."""
        ...


class Features:
    """One vector per text."""

    def __init__(self, texts: Sequence[str], kind: str, device: torch.device) -> None:
        with quietly():
            rows = np.stack([_FEATURES[kind](text) for text in texts])
        _warn(texts, ~rows.any(axis=1), f"no {kind} feature, and so a vector of zeros")
        self._rows = torch.from_numpy(rows).float().to(device)
        self.lengths = torch.zeros(len(texts), dtype=torch.long, device=device)

    def batch(self, rows: Tensor) -> Tensor:
        """Their vectors."""
        return self._rows[rows]


class Characters:
    """One column per character: of the package's alphabet, or `?`, which also fills what a text leaves over."""

    def __init__(self, texts: Sequence[str], encoder: nn.Module, *, drugs: bool, device: torch.device) -> None:
        split, alphabet = (utils.trans_drug, utils.enc_drug) if drugs else (utils.trans_protein, utils.enc_protein)
        (letters,) = alphabet.categories_
        numbers = np.searchsorted(letters, [split(text) for text in texts])
        most = numbers.shape[1]
        _warn(texts, [len(text) > most for text in texts], f"more than {most} characters, and are cut there")
        self._numbers = torch.from_numpy(numbers).to(device)
        self._letters = len(letters)
        # a place of the last layer sees so many columns: after them, every place sees `?` alone and says the same
        self._view = 1 + sum(layer.kernel_size[0] - 1 for layer in encoder.conv)
        self.lengths = torch.tensor([min(len(text), most) for text in texts], device=device)

    def batch(self, rows: Tensor) -> Tensor:
        """Ones and zeros, letters x characters."""
        width = int(self.lengths[rows].max()) + self._view
        one_hot = nn.functional.one_hot(self._numbers[rows, :width], self._letters)
        return one_hot.transpose(1, 2).double()


class Subwords:
    """Numbers of subwords, and which of them are the text's own: the others weigh exactly nothing in attention."""

    def __init__(self, texts: Sequence[str], *, drugs: bool, device: torch.device) -> None:
        encode = utils.drug2emb_encoder if drugs else utils.protein2emb_encoder
        numbers, masks = (np.stack(part) for part in zip(*map(encode, texts), strict=True))
        lengths = masks.sum(axis=1)
        most = masks.shape[1]
        _warn(
            texts,
            (lengths == 1) & (numbers[:, 0] == 0),
            "a subword that the package does not know: one token in all",
        )
        _warn(texts, lengths == most, f"{most} subwords or more, and are cut there")
        self._numbers, self._masks = (
            torch.from_numpy(part.astype(np.int64)).to(device) for part in (numbers, masks)
        )
        # of nothing but filling, all of it counts
        self.lengths = torch.from_numpy(np.where(lengths, lengths, most)).to(device)

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Numbers and mask."""
        width = int(self.lengths[rows].max())
        return self._numbers[rows, :width], self._masks[rows, :width]


def table_of(texts: Sequence[str], kind: str, encoder: nn.Module, *, drugs: bool, device: torch.device) -> Table:
    """The table of one side, as its encoding asks."""
    if kind == "CNN":
        return Characters(texts, encoder, drugs=drugs, device=device)
    if kind == "Transformer":
        return Subwords(texts, drugs=drugs, device=device)
    return Features(texts, kind, device)


def _warn(texts: Sequence[str], which: Sequence[bool], what: str) -> None:
    """Of the texts that are known."""
    count = sum(bool(text) and bool(one) for text, one in zip(texts, which, strict=True))
    if count:
        warnings.warn(f"{count} of {len(texts)} texts have {what}", stacklevel=2)
