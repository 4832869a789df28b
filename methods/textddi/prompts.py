"""TextDDI's text about a pair: names, sentences drawn from both descriptions, and a beginning to be completed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ddi_sdk import Array, Problem
from text_batches import Draw, Texts

_PROMPT = "In the above context, we can predict that the drug-drug interactions between {} and {} is that: "
# a sentence's end; an abbreviation that is taken for one makes two short sentences of a long one
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(])")
_SPECIAL = 2


def prompts(problem: Problem, tokeniser: Any) -> Texts:
    """A reader of prompts. A drug without a description has its name alone."""
    names = [str(name) for name in problem.inputs["drug_names"]]
    sentences = [
        _END.split(" ".join(text.split())) if text.strip() else [] for text in problem.inputs["drug_texts"]
    ]
    if not any(sentences):
        warnings.warn("no drug has a description: only names are read", stacklevel=2)
    longest = int(problem.parameters["longest"])
    drawing = Drawing(
        names,
        sentences,
        # each name stands twice in its text
        [2 * length for length in _lengths(tokeniser, names)],
        [_lengths(tokeniser, some) for some in sentences],
        longest - _SPECIAL - sum(_lengths(tokeniser, [":", ":", _PROMPT.format("", "")])),
        sort=problem.parameters["sentence_order"] == "text",
        seed=problem.seed,
    )
    return Texts(drawing.text, tokeniser, longest, tokeniser.pad_token_id)


@dataclass(frozen=True)
class Drawing:
    """Names and sentences of all drugs, with their lengths in tokens, and the room that a text has for them."""

    names: Sequence[str]
    sentences: Sequence[Sequence[str]]
    name_lengths: Sequence[int]
    sentence_lengths: Sequence[Sequence[int]]
    room: int
    sort: bool
    seed: int

    def text(self, head: int, tail: int, draw: Draw) -> str:
        """Sentences of both, drawn one by one until the next would fill the text.

        They stay in the order of drawing or, where `sort` says so, of their description. Without `draw` a pair's
        sentences depend on nothing but the seed.
        """
        if draw is None:
            draw = np.random.default_rng((self.seed, head, tail))
        lengths = np.array([*self.sentence_lengths[head], *self.sentence_lengths[tail]], dtype=np.int64)
        room = self.room - self.name_lengths[head] - self.name_lengths[tail]
        order = draw.permutation(len(lengths))
        drawn = order[np.cumsum(lengths[order]) < room]
        if self.sort:
            drawn = np.sort(drawn)
        border = len(self.sentence_lengths[head])
        first = self._about(head, drawn[drawn < border])
        return f"{first} {self._about(tail, drawn[drawn >= border] - border)} " + _PROMPT.format(
            self.names[head], self.names[tail]
        )

    def _about(self, drug: int, drawn: Array) -> str:
        return " ".join([f"{self.names[drug]}:", *(self.sentences[drug][one] for one in drawn.tolist())])


def _lengths(tokeniser: Any, texts: Sequence[str]) -> list[int]:
    """How many tokens each has inside a text."""
    if not texts:
        return []
    found = tokeniser([f" {text}" for text in texts], add_special_tokens=False)["input_ids"]
    return [len(ids) for ids in found]
