"""Pretrained encoders from the files they are published as: every tensor has its place, or is refused."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from combination_bert import Bert, BertSizes
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

CONFIGURATION, VOCABULARY = "config.json", "vocab.txt"
_SAFE, _PICKLED = "model.safetensors", "pytorch_model.bin"
_SIZES = {
    "words": "vocab_size",
    "width": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
    "places": "max_position_embeddings",
}
# of BERT's own configuration, where a file says nothing
_UNSAID: Mapping[str, tuple[str, float]] = {
    "segments": ("type_vocab_size", 2),
    "dropout": ("hidden_dropout_prob", 0.1),
    "attention_dropout": ("attention_probs_dropout_prob", 0.1),
    "epsilon": ("layer_norm_eps", 1e-12),
    "deviation": ("initializer_range", 0.02),
}
# heads of pretraining; the pooler belongs to BERT, but nothing reads it and some files lack it
_HEAD, _POOLER = "cls.", "pooler."
_PLACES = "embeddings.position_ids"
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}


class EncoderFilesError(ValueError):
    """An encoder's files are incomplete or contradict each other."""

    def __init__(
        self, what: str, where: Path, todo: str = "bring the encoder's files again, all of one model"
    ) -> None:
        super().__init__(f"{what}\n  where: {where}\n  what to do: {todo}")


def weights_folder() -> Path:
    """Where the files lie that the method's weights.toml names."""
    return Path(os.environ.get("PERMAFROST_IN", "/in")) / "weights"


def words_of(folder: Path) -> list[str]:
    """The vocabulary: one word piece per line."""
    path = folder / VOCABULARY
    if not path.is_file():
        raise EncoderFilesError("the encoder's vocabulary is missing", path)
    words = path.read_text(encoding="utf-8").split("\n")
    if words and not words[-1]:
        words.pop()
    if repeated := len(words) - len(set(words)):
        raise EncoderFilesError(f"{repeated} lines of the vocabulary are repeated", path)
    if lacking := [word for word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]") if word not in words]:
        raise EncoderFilesError(f"the vocabulary lacks {', '.join(lacking)}", path)
    return words


def sizes_of(folder: Path) -> BertSizes:
    """What config.json says."""
    path = folder / CONFIGURATION
    if not path.is_file():
        raise EncoderFilesError("the encoder's configuration is missing", path)
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise EncoderFilesError(f"the encoder's configuration is no JSON: {error}", path) from error
    if lacking := sorted(set(_SIZES.values()) - set(said)):
        raise EncoderFilesError(f"the encoder's configuration lacks {', '.join(lacking)}", path)
    other = [
        f"{name} = {said[name]!r}"
        for name, wanted in (
            ("hidden_act", "gelu"),
            ("position_embedding_type", "absolute"),
            ("model_type", "bert"),
        )
        if said.get(name, wanted) != wanted
    ]
    if other:
        raise EncoderFilesError(f"the encoder is no BERT as it is known here: {', '.join(other)}", path)
    sizes = BertSizes(
        **{ours: int(said[theirs]) for ours, theirs in _SIZES.items()},
        **{ours: type(default)(said.get(theirs, default)) for ours, (theirs, default) in _UNSAID.items()},
    )
    if sizes.width % sizes.heads:
        raise EncoderFilesError(f"a width of {sizes.width} can't be shared by {sizes.heads} heads", path)
    return sizes


def load_bert(folder: Path) -> Bert:
    """The encoder with the weights of a folder."""
    bert, _ = _loaded(folder)
    return bert


def load_with_head(folder: Path) -> tuple[Bert, dict[str, Tensor]]:
    """The same, and the tensors of the heads that it was pretrained with, as far as the files hold them."""
    return _loaded(folder)


def save_bert(bert: Bert, head: Mapping[str, Tensor], source: Path, target: Path) -> None:
    """Files of the same form: `source`'s configuration and vocabulary with these weights and this head."""
    tensors = {f"bert.{name}": one for name, one in bert.state_dict().items()} | dict(head)
    for name in (CONFIGURATION, VOCABULARY):
        (target / name).write_bytes((source / name).read_bytes())
    save_file({name: one.cpu().contiguous() for name, one in tensors.items()}, target / _SAFE, {"format": "pt"})


def _loaded(folder: Path) -> tuple[Bert, dict[str, Tensor]]:
    sizes, words = sizes_of(folder), words_of(folder)
    if len(words) != sizes.words:
        raise EncoderFilesError(
            f"the vocabulary has {len(words)} words, the configuration says {sizes.words}", folder / VOCABULARY
        )
    path, tensors = _tensors(folder)
    head = {name: one for name, one in tensors.items() if name.startswith(_HEAD)}
    own = {name: one for name, one in tensors.items() if name not in head}
    places = own.pop(_PLACES, None)
    if places is not None and not torch.equal(places.flatten(), torch.arange(sizes.places)):
        raise EncoderFilesError(f"{_PLACES} do not count from 0 to {sizes.places - 1}", path)
    bert = Bert(sizes)
    wanted = bert.state_dict()
    if not any(name.startswith(_POOLER) for name in own):
        own |= {name: torch.zeros_like(one) for name, one in wanted.items() if name.startswith(_POOLER)}
    _match(path, own, wanted)
    bert.load_state_dict({name: one.to(torch.float32) for name, one in own.items()})
    return bert, head


def _match(path: Path, own: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Raise unless names and shapes are those of the network, neither more nor less."""
    for what, names in (("lack", set(wanted) - set(own)), ("have what BERT has not:", set(own) - set(wanted))):
        if names:
            raise EncoderFilesError(f"the encoder's weights {what} {_listed(sorted(names))}", path)
    shapes = [
        f"{name} {tuple(own[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if own[name].shape != wanted[name].shape
    ]
    if shapes:
        raise EncoderFilesError(f"weights have other sizes than {CONFIGURATION} says: {_listed(shapes)}", path)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _tensors(folder: Path) -> tuple[Path, dict[str, Tensor]]:
    """The file of the weights and its tensors by their present names, without the first `bert.`."""
    path = next((folder / name for name in (_SAFE, _PICKLED) if (folder / name).is_file()), None)
    if path is None:
        raise EncoderFilesError(f"the encoder's weights are missing: neither {_SAFE} nor {_PICKLED}", folder)
    try:
        # tensors alone: a pickled file that holds code is refused
        stored = load_file(path) if path.name == _SAFE else torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise EncoderFilesError("the encoder's weights hold more than tensors, which may be code", path) from error
    except (SafetensorError, RuntimeError, EOFError) as error:
        raise EncoderFilesError(f"the encoder's weights can't be read: {error}", path) from error
    tensors: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        for old, new in _OLD_NAMES.items():
            name = name.replace(old, new)
        tensors[name.removeprefix("bert.")] = tensor
    return path, tensors


class WordHead(nn.Module):
    """What names masked words in pretraining; its last matrix is the word embeddings'."""

    def __init__(self, bert: Bert, stored: Mapping[str, Tensor]) -> None:
        super().__init__()
        sizes = bert.sizes
        self.dense = nn.Linear(sizes.width, sizes.width)
        self.LayerNorm = nn.LayerNorm(sizes.width, eps=sizes.epsilon)
        self.bias = nn.Parameter(torch.zeros(sizes.words))
        nn.init.normal_(self.dense.weight, std=sizes.deviation)
        nn.init.zeros_(self.dense.bias)
        names = self.names()
        present = {ours: stored[theirs] for ours, theirs in names.items() if theirs in stored}
        if present and set(present) != set(names):
            raise ValueError(f"the head of the masked words lacks {_listed(sorted(set(names) - set(present)))}")
        if present:
            self.load_state_dict(present)

    @staticmethod
    def names() -> dict[str, str]:
        """Names in the published files by ours."""
        start = "cls.predictions"
        parts = ("dense.weight", "dense.bias", "LayerNorm.weight", "LayerNorm.bias")
        return {part: f"{start}.transform.{part}" for part in parts} | {"bias": f"{start}.bias"}

    def stored(self) -> dict[str, Tensor]:
        """Its tensors under the names of published files."""
        state = self.state_dict()
        return {theirs: state[ours] for ours, theirs in self.names().items()}

    def forward(self, vectors: Tensor, words: Tensor) -> Tensor:
        """A score of each of `words` at every vector."""
        inner = self.LayerNorm(nn.functional.gelu(self.dense(vectors)))
        return inner @ words.T + self.bias
