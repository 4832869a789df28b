"""What DDI-GPT reads of a pair: a sentence with both names, or the beginnings of both knowledge-graph texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from ddi_sdk import Array, Problem
from text_batches import Draw, Reader, Texts, padded
from torch import Tensor

# the end of a text in BioGPT's vocabulary; the original fills up with it, not with the id that is for filling up
_END = 2
# tokens of a sentence with names, of each text's beginning, and of both with what is between them
_NAMES, _BEGINNING, _BOTH = 48, 25, 128
# where the second text stands, the length of the first added
_SECOND = 64 + 2


class Filled(Texts):
    """Every text filled up to the largest number of tokens."""

    def batch(self, texts: Sequence[Array]) -> tuple[Tensor, ...]:
        return padded(texts, self.fill, self.longest)


@dataclass(frozen=True)
class Apart:
    """A reader of two beginnings far from each other, as BioGPT is given them."""

    beginnings: Sequence[Array]

    def read(self, pairs: Array, draw: Draw) -> Sequence[Array]:
        """Ids, and -1 where nothing stands."""
        return [self._row(self.beginnings[head], self.beginnings[tail]) for head, tail in pairs.tolist()]

    def batch(self, texts: Sequence[Array]) -> tuple[Tensor, ...]:
        """Ids and mask."""
        ids = torch.from_numpy(np.stack(texts))
        return ids.where(ids >= 0, _END), (ids >= 0).long()

    @staticmethod
    def _row(head: Array, tail: Array) -> Array:
        row = np.full(_BOTH, -1, dtype=np.int64)
        second = _SECOND + len(head)
        row[1 : 1 + len(head)], row[second : second + len(tail)] = head, tail
        return row


@dataclass(frozen=True)
class Together:
    """A reader of two beginnings one after the other, as the small encoder knows pairs of texts."""

    beginnings: Sequence[Array]
    tokeniser: Any

    def read(self, pairs: Array, draw: Draw) -> Sequence[Array]:
        """Ids, with the encoder's marks."""
        start, end = [self.tokeniser.cls_token_id], [self.tokeniser.sep_token_id]
        known = self.beginnings
        return [np.concatenate([start, known[head], end, known[tail], end]) for head, tail in pairs.tolist()]

    def batch(self, texts: Sequence[Array]) -> tuple[Tensor, ...]:
        """Filled up to the longest of them."""
        return padded(texts, self.tokeniser.pad_token_id, max(len(text) for text in texts))


def reads_names(problem: Problem) -> bool:
    """Names alone; a dataset of several types at once is read by its texts whatever is wanted."""
    return bool(problem.parameters["names_only"]) and not problem.multilabel


def for_biogpt(problem: Problem, tokeniser: Any) -> Reader:
    """What BioGPT reads."""
    if reads_names(problem):
        return Filled(_sentences(problem), tokeniser, _NAMES, _END)
    return Apart(_beginnings(problem, tokeniser))


def for_minilm(problem: Problem, tokeniser: Any) -> Reader:
    """The same words for the small encoder."""
    if reads_names(problem):
        return Texts(_sentences(problem), tokeniser, _NAMES, tokeniser.pad_token_id)
    return Together(_beginnings(problem, tokeniser), tokeniser)


def _sentences(problem: Problem) -> Any:
    names = problem.inputs["drug_names"]
    return lambda head, tail, draw: f"The drug-drug interactions between {names[head]} and {names[tail]} is: "


def _beginnings(problem: Problem, tokeniser: Any) -> list[Array]:
    """Of each drug's text; of its name where it has none."""
    told = zip(problem.inputs["graph_texts"], problem.inputs["drug_names"], strict=True)
    texts = [text if text.strip() else name for text, name in told]
    found = tokeniser(texts, add_special_tokens=False, truncation=True, max_length=_BEGINNING)["input_ids"]
    return [np.array(ids or [_END], dtype=np.int64) for ids in found]
