"""Folders of the form that pretrained models are published in, with tiny random weights, written by hand."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Weights = dict[str, npt.NDArray[np.float32]]

WIDTH, INNER, LAYERS, HEADS, PLACES = 16, 24, 2, 4, 300
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
_SIZES = {
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": INNER,
    "max_position_embeddings": PLACES,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}


def write_roberta(folder: Path, seed: int) -> None:
    """RoBERTa as a masked language model, with one token per byte."""
    folder.mkdir(parents=True)
    tokens = {token: number for number, token in enumerate((*_SPECIAL, *_bytes()))}
    config = {"architectures": ["RobertaForMaskedLM"], "model_type": "roberta", "type_vocab_size": 1, **_SIZES}
    _write(folder, {**config, "vocab_size": len(tokens), "layer_norm_eps": 1e-5}, tokens)
    (folder / "tokenizer.json").write_text(json.dumps(_tokeniser(tokens)))
    write_safetensors(folder / "model.safetensors", _roberta(len(tokens), np.random.default_rng(seed)))


def write_biogpt(folder: Path, seed: int) -> None:
    """BioGPT as a causal language model, with one token per character."""
    folder.mkdir(parents=True)
    written = [chr(code) for code in range(33, 127)]
    pieces = (*_SPECIAL, *written, *(f"{one}</w>" for one in written))
    tokens = {token: number for number, token in enumerate(pieces)}
    config = {"architectures": ["BioGptForCausalLM"], "model_type": "biogpt", "scale_embedding": True, **_SIZES}
    _write(folder, {**config, "vocab_size": len(tokens)}, tokens)
    write_safetensors(folder / "model.safetensors", _biogpt(len(tokens), np.random.default_rng(seed)))


def write_bert(folder: Path, seed: int) -> None:
    """BERT as it was pretrained, with one token per character, and the old names of norms."""
    folder.mkdir(parents=True)
    letters = [chr(code) for code in range(33, 127)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters)]
    config = {**_SIZES, "vocab_size": len(words), "max_position_embeddings": 512, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(words))
    write_pickled(folder / "pytorch_model.bin", _bert(len(words), np.random.default_rng(seed)))


def write_pickled(path: Path, weights: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """The archive that PyTorch writes: a pickle that names tensors, and the values of each in its own file."""
    ordered = b"ccollections\nOrderedDict\n)R"
    told = b"\x80\x02" + ordered + b"("
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number, (name, array) in enumerate(weights.items()):
            strides = tuple(stride // array.itemsize for stride in array.strides)
            told += _pickled(name) + b"ctorch._utils\n_rebuild_tensor_v2\n("
            told += b"(" + _pickled("storage") + b"ctorch\nFloatStorage\n"
            told += _pickled(str(number)) + _pickled("cpu") + _pickled(array.size) + b"tQ"
            told += _pickled(0) + _pickled(array.shape) + _pickled(strides) + b"\x89" + ordered + b"tR"
            archive.writestr(f"archive/data/{number}", array.tobytes())
        archive.writestr("archive/data.pkl", told + b"u.")
        archive.writestr("archive/version", "3\n")


def _pickled(value: object) -> bytes:
    """Without the pickle's own beginning and end."""
    return pickle.dumps(value, protocol=2)[2:-1]


def write_safetensors(path: Path, weights: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """The format's header, then all values one after another."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, array in weights.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [start, end]}
    told = json.dumps(header).encode()
    told += b" " * (-len(told) % 8)
    path.write_bytes(struct.pack("<Q", len(told)) + told + b"".join(one.tobytes() for one in weights.values()))


def _write(folder: Path, config: dict[str, Any], tokens: dict[str, int]) -> None:
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text(json.dumps(tokens))
    (folder / "merges.txt").write_text("#version: 0.2\n")


def _bytes() -> list[str]:
    """The characters that stand for single bytes: the printable ones for themselves, the others from 256 on."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [code for code in range(256) if code not in shown]
    return [chr(code) for code in shown] + [chr(256 + number) for number in range(len(hidden))]


def _tokeniser(tokens: dict[str, int]) -> dict[str, Any]:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": tokens[one], "content": one, **plain} for one in _SPECIAL],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["</s>", 2],
            "cls": ["<s>", 0],
            "trim_offsets": True,
            "add_prefix_space": False,
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "unk_token": "<unk>", "vocab": tokens, "merges": []},
    }


def _roberta(vocabulary: int, draw: np.random.Generator) -> Weights:
    shapes: dict[str, tuple[int, ...]] = {
        "roberta.embeddings.word_embeddings.weight": (vocabulary, WIDTH),
        "roberta.embeddings.position_embeddings.weight": (PLACES, WIDTH),
        "roberta.embeddings.token_type_embeddings.weight": (1, WIDTH),
    }
    norms = ["roberta.embeddings.LayerNorm"]
    for layer in range(LAYERS):
        start = f"roberta.encoder.layer.{layer}"
        for part in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ):
            shapes |= _linear(f"{start}.{part}", WIDTH, WIDTH)
        shapes |= _linear(f"{start}.intermediate.dense", INNER, WIDTH)
        shapes |= _linear(f"{start}.output.dense", WIDTH, INNER)
        norms += [f"{start}.attention.output.LayerNorm", f"{start}.output.LayerNorm"]
    return _drawn(shapes, norms, draw)


def _biogpt(vocabulary: int, draw: np.random.Generator) -> Weights:
    shapes: dict[str, tuple[int, ...]] = {
        "biogpt.embed_tokens.weight": (vocabulary, WIDTH),
        "biogpt.embed_positions.weight": (PLACES + 2, WIDTH),
    }
    norms = ["biogpt.layer_norm"]
    for layer in range(LAYERS):
        start = f"biogpt.layers.{layer}"
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            shapes |= _linear(f"{start}.self_attn.{part}", WIDTH, WIDTH)
        shapes |= _linear(f"{start}.fc1", INNER, WIDTH) | _linear(f"{start}.fc2", WIDTH, INNER)
        norms += [f"{start}.self_attn_layer_norm", f"{start}.final_layer_norm"]
    return _drawn(shapes, norms, draw)


def _bert(vocabulary: int, draw: np.random.Generator) -> Weights:
    weights = {name.replace("roberta.", "bert."): one for name, one in _roberta(vocabulary, draw).items()}
    places, segments = (f"bert.embeddings.{one}_embeddings.weight" for one in ("position", "token_type"))
    weights |= _drawn({places: (512, WIDTH), segments: (2, WIDTH)}, [], draw)
    weights |= _drawn(
        {
            **_linear("bert.pooler.dense", WIDTH, WIDTH),
            **_linear("cls.predictions.transform.dense", WIDTH, WIDTH),
            "cls.predictions.bias": (vocabulary,),
            **_linear("cls.seq_relationship", 2, WIDTH),
        },
        ["cls.predictions.transform.LayerNorm"],
        draw,
    )
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    for now, then in old.items():
        weights = {name.replace(now, then): one for name, one in weights.items()}
    return weights


def _linear(name: str, outward: int, inward: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outward, inward), f"{name}.bias": (outward,)}


def _drawn(shapes: dict[str, tuple[int, ...]], norms: list[str], draw: np.random.Generator) -> Weights:
    weights = {name: draw.normal(0, 0.1, shape).astype("<f4") for name, shape in shapes.items()}
    for name in norms:
        weights |= {f"{name}.weight": np.ones(WIDTH, "<f4"), f"{name}.bias": np.zeros(WIDTH, "<f4")}
    return weights
