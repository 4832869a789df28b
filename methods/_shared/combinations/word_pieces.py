"""Word pieces of marked texts: every word of a document is cut once, and a candidate's row is made of its pieces.

A row is [CLS], the pieces of each word in lower case, [SEP]. The markers are two pieces behind the vocabulary.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from marked_texts import MARKERS, START, MarkedText, Passage, Words
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

Integers = npt.NDArray[np.int32]
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# wider than any text
_UNBOUNDED = 1 << 40


class Row(NamedTuple):
    """The pieces of one candidate, and where its drugs' start markers are."""

    ids: Integers
    starts: tuple[int, ...]


class Batch(NamedTuple):
    """Rows filled up to one length: pieces, 1 where there is one, and the weight of each in the mean of starts."""

    ids: Integers
    mask: npt.NDArray[np.int8]
    weights: npt.NDArray[np.float32]


class WordPieces:
    """The word pieces of a BERT vocabulary, lower-cased whatever the model says, as the authors do."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.size = len(vocabulary) + len(MARKERS)
        self.markers = {marker: len(vocabulary) + place for place, marker in enumerate(MARKERS)}
        self.padding, self._begin, self._end = (vocabulary[name] for name in ("[PAD]", "[CLS]", "[SEP]"))
        self._tokenizer = Tokenizer(models.WordPiece(dict(vocabulary), unk_token="[UNK]"))
        # in a text too, these are pieces
        self._tokenizer.add_special_tokens([name for name in _SPECIAL if name in vocabulary])
        self._tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        self._of_word: dict[str, list[int]] = {}
        self._of_words: WeakKeyDictionary[Words, tuple[Integers, list[int]]] = WeakKeyDictionary()

    def row(self, text: MarkedText, drugs: Sequence[int], width: int, length: int) -> Row:
        """The pieces of the window around some drugs, cut on the right after `length`.

        The authors' code ends where a start marker is cut off by that. Here the row then begins later, though not
        behind the first start marker, and starts that are still beyond it are left out. A window too narrow for
        any start marker is not used.
        """
        passage = text.passage(drugs, width)
        if START not in passage.markers:
            passage = text.passage(drugs, _UNBOUNDED)
        parts, starts = self._parts(passage)
        skip = max(0, min(starts[0] - 1, starts[-1] - length + 1))
        ids = np.concatenate(parts)
        if starts[-1] >= length:
            warnings.warn(f"drugs beyond the piece {length} of a text: it begins later", stacklevel=2)
            ids = np.concatenate([ids[:1], ids[skip + 1 :]])
        return Row(ids[:length], tuple(start - skip for start in starts if start - skip < length))

    def encoded(self, texts: Sequence[str]) -> list[list[int]]:
        """Plain texts, each between its first and its last piece."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [[self._begin, *one.ids, self._end] for one in encodings]

    def batch(self, rows: Sequence[Row], length: int = 0) -> Batch:
        """Rows side by side, filled up to `length` or to the longest."""
        shape = (len(rows), length or max(len(row.ids) for row in rows))
        batch = Batch(
            np.full(shape, self.padding, np.int32), np.zeros(shape, np.int8), np.zeros(shape, np.float32)
        )
        for place, row in enumerate(rows):
            batch.ids[place, : len(row.ids)] = row.ids
            batch.mask[place, : len(row.ids)] = 1
            batch.weights[place, list(row.starts)] = 1 / len(row.starts)
        return batch

    def _parts(self, passage: Passage) -> tuple[list[Integers], list[int]]:
        """The row in parts, and the places of start markers in it."""
        flat, offsets = self._flat(passage.words)
        parts, starts, place = [np.array([self._begin], np.int32)], [], 1
        for (begin, end), marker in zip(passage.ranges, [*passage.markers, ""], strict=True):
            part = flat[offsets[begin] : offsets[end]]
            parts += [part, np.array([self.markers.get(marker, self._end)], np.int32)]
            place += len(part)
            starts += [place] if marker == START else []
            place += 1
        return parts, starts

    def _flat(self, words: Words) -> tuple[Integers, list[int]]:
        """The pieces of all words, and where those of each begin."""
        if words not in self._of_words:
            new = list({word: None for word in words.words if word not in self._of_word})
            for word, encoding in zip(
                new, self._tokenizer.encode_batch(new, add_special_tokens=False), strict=True
            ):
                self._of_word[word] = encoding.ids
            pieces = [self._of_word[word] for word in words.words]
            flat = np.array([piece for one in pieces for piece in one], dtype=np.int32)
            self._of_words[words] = flat, [0, *accumulate(map(len, pieces))]
        return self._of_words[words]


def vocabulary_in(folder: Path) -> dict[str, int]:
    """The vocabulary that lies beside a model: `vocab.txt`, or the one in `tokenizer.json`."""
    if (path := folder / "vocab.txt").is_file():
        # no splitlines: a piece may be another kind of line break
        lines = path.read_text(encoding="utf-8").split("\n")
        return {line: number for number, line in enumerate(lines if lines[-1] else lines[:-1])}
    document: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = document["model"]["vocab"]
    return vocabulary
