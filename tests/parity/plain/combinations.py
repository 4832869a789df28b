"""Runs in an image with torch: golden cases of marked classifiers of other sizes, plainly, to /goldens.

`b_forward` has one batch, `b_train_NAME` some steps. Of two more cases one has a tensor more and one a tensor less
than the network.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

OUT = Path("/goldens")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"word{number}" for number in range(12))]
MARKERS = ["<<m>>", "<</m>>"]
Parameters = dict[str, Tensor]


class Plain:
    """A network of some size with drawn weights."""

    def __init__(
        self, seed: int, layers: int, heads: int, size: int, inner: int, places: int, classes: int
    ) -> None:
        self.layers, self.heads, width = layers, heads, heads * size
        rows = len(WORDS) + len(MARKERS)
        shapes: dict[str, tuple[int, ...]] = {
            "bert.embeddings.word_embeddings.weight": (rows, width),
            "bert.embeddings.position_embeddings.weight": (places, width),
            "bert.embeddings.token_type_embeddings.weight": (2, width),
            **_pair("bert.embeddings.LayerNorm", width),
        }
        for number in range(layers):
            start = f"bert.encoder.layer.{number}"
            for part in ("self.query", "self.key", "self.value", "output.dense"):
                shapes |= _pair(f"{start}.attention.{part}", width, width)
            shapes |= _pair(f"{start}.attention.output.LayerNorm", width)
            shapes |= _pair(f"{start}.intermediate.dense", inner, width)
            shapes |= _pair(f"{start}.output.dense", width, inner) | _pair(f"{start}.output.LayerNorm", width)
        shapes |= _pair("bert.pooler.dense", width, width) | _pair("layer_norm", width)
        shapes |= _pair("classifier", classes, width)
        draw = torch.Generator().manual_seed(seed)
        self.P: Parameters = {name: torch.randn(shape, generator=draw) * 0.3 for name, shape in shapes.items()}
        self.places, self.classes = places, classes
        self.config = {
            "vocab_size": len(WORDS), "hidden_size": width, "num_hidden_layers": layers,
            "num_attention_heads": heads, "intermediate_size": inner, "max_position_embeddings": places,
            "initializer_range": 0.3, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
        }  # fmt: skip

    def mean(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Of the start markers' last vectors, text by text and head by head."""
        rows = []
        for text, seen in zip(ids, mask, strict=True):
            count = int(seen.sum())
            names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
            word, place, segment = (self.P[f"bert.embeddings.{name}.weight"] for name in names)
            vectors = self._norm("bert.embeddings.LayerNorm", word[text[:count]] + place[:count] + segment[0])
            for number in range(self.layers):
                vectors = self._layer(f"bert.encoder.layer.{number}", vectors)
            rows.append(vectors[text[:count] == len(WORDS)].mean(0))
        return torch.stack(rows)

    def logits(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Of all classes."""
        return self._linear("classifier", self._norm("layer_norm", self.mean(ids, mask), 1e-5))

    def _layer(self, start: str, vectors: Tensor) -> Tensor:
        parts = [self._linear(f"{start}.attention.self.{part}", vectors) for part in ("query", "key", "value")]
        context = [
            torch.softmax(q @ k.T / math.sqrt(q.shape[1]), 1) @ v
            for q, k, v in zip(*(one.chunk(self.heads, 1) for one in parts), strict=True)
        ]
        above = self._linear(f"{start}.attention.output.dense", torch.cat(context, 1)) + vectors
        above = self._norm(f"{start}.attention.output.LayerNorm", above)
        inner = functional.gelu(self._linear(f"{start}.intermediate.dense", above))
        return self._norm(f"{start}.output.LayerNorm", self._linear(f"{start}.output.dense", inner) + above)

    def _linear(self, name: str, vectors: Tensor) -> Tensor:
        return vectors @ self.P[f"{name}.weight"].T + self.P[f"{name}.bias"]

    def _norm(self, name: str, vectors: Tensor, epsilon: float = 1e-12) -> Tensor:
        vectors = vectors - vectors.mean(1, keepdim=True)
        return (
            vectors / (vectors.square().mean(1, keepdim=True) + epsilon).sqrt() * self.P[f"{name}.weight"]
            + (self.P[f"{name}.bias"])
        )

    def stored(self) -> dict[str, np.ndarray]:
        """As the goldens have them."""
        places = {"bert.embeddings.position_ids": np.arange(self.places)[None]}
        return places | {name: one.detach().numpy() for name, one in self.P.items()}


def _pair(name: str, outward: int, inward: int = 0) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outward, inward) if inward else (outward,), f"{name}.bias": (outward,)}


def texts(draw: np.random.Generator, count: int) -> list[str]:
    """Words with one to three marked ones among them."""
    rows = []
    for _ in range(count):
        words = [f"Word{number}" for number in draw.integers(0, 14, draw.integers(6, 12))]
        for place in sorted(draw.choice(len(words), draw.integers(1, 4), replace=False), reverse=True):
            words[place : place + 1] = [MARKERS[0], words[place], MARKERS[1]]
        rows.append(" ".join(words))
    return rows


def batch(rows: Sequence[str], length: int) -> tuple[list[list[str]], dict[str, np.ndarray]]:
    """Word pieces, which are whole words, and what is made of them."""
    known = [*WORDS, *MARKERS]
    pieces = [
        ["[CLS]", *(word.lower() if word.lower() in known else "[UNK]" for word in row.split()), "[SEP]"]
        for row in rows
    ]
    ids, weights = np.zeros((len(rows), length), np.int32), np.zeros((len(rows), 1, length), np.float32)
    mask = np.zeros((len(rows), length), np.int8)
    for place, row in enumerate(pieces):
        own = [known.index(piece) for piece in row][:length]
        ids[place, : len(own)], mask[place, : len(own)] = own, 1
        weights[place, 0] = (ids[place] == len(WORDS)) / (ids[place] == len(WORDS)).sum()
    return pieces, {"input_ids": ids, "attention_mask": mask, "entity_weights": weights}


def forward(folder: Path, network: Plain, length: int, weights: Sequence[float]) -> None:
    """One batch from texts to losses."""
    folder.mkdir()
    draw = np.random.default_rng(3)
    rows = texts(draw, 7)
    pieces, arrays = batch(rows, length)
    labels = draw.integers(0, network.classes, len(rows))
    ids, mask = (torch.from_numpy(arrays[name].astype(np.int64)) for name in ("input_ids", "attention_mask"))
    mean, logits = network.mean(ids, mask), network.logits(ids, mask)
    each = -torch.log_softmax(logits, 1)[range(len(rows)), labels]
    shares = torch.tensor(weights)[labels]
    prediction = logits.argmax(1).numpy()
    right = int(((prediction == labels) & (labels != 0)).sum())
    said, true = int((prediction != 0).sum()), int((labels != 0).sum())
    precision, recall = right / max(said, 1), right / max(true, 1)
    arrays |= {
        "token_type_ids": np.zeros_like(arrays["attention_mask"]), "labels": labels.astype(np.int8),
        "logits": logits.numpy(), "probs": torch.softmax(logits, 1).numpy(), "pred": prediction,
        "loss": each.mean().numpy(), "loss_weighted": ((each * shares).sum() / shares.sum()).numpy(),
        "entity_mean": mean.numpy(),
    }  # fmt: skip
    np.savez(folder / "some.npz", **arrays)
    np.savez(folder / "state_dict.npz", **network.stored())
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    starts = [[place for place, one in enumerate(row[:length]) if one == MARKERS[0]] for row in pieces]
    metrics = {"precision": precision, "recall": recall, "n_correct": right, "n_pred": said, "task_ngold": true}
    metrics["f1"] = 2 * precision * recall / (precision + recall) if right else 0.0
    name = "loss_weighted_" + "_".join(map(str, weights))
    some: dict[str, Any] = {
        "max_seq_length": length, "texts": rows, "subwords": pieces, "entity_start_positions": starts,
        "train_metrics_compute_f1": metrics, name: 0.0,
    }  # fmt: skip
    notes = {"config": network.config, "vocab_size_with_markers": len(WORDS) + 2, "batches": {"some": some}}
    notes["marker_ids"] = [len(WORDS), len(WORDS) + 1]
    (folder / "cases.json.gz").write_bytes(gzip.compress(json.dumps(notes).encode()))


def training(folder: Path, network: Plain, strategy: str, weights: Sequence[float] | None, decay: float) -> None:
    """Some steps; with weights of classes also a warm-up."""
    folder.mkdir()
    draw = np.random.default_rng(4)
    _, arrays = batch(texts(draw, 9), 24)
    labels = draw.integers(0, network.classes, 9)
    ids, mask = (torch.from_numpy(arrays[name].astype(np.int64)) for name in ("input_ids", "attention_mask"))
    last = f"bert.encoder.layer.{network.layers - 1}."
    rule = {
        "all": lambda name: True,
        "BitFit": lambda name: "bias" in name,
        "final-bert-layer": lambda name: name.startswith(last),
    }[strategy]
    before = [name for name in network.P if rule(name) or name.startswith(("layer_norm", "classifier"))]
    after = [name for name in network.P if name in before or "word_embeddings" in name]
    start = network.stored() | {name: one.clone().numpy() for name, one in network.P.items()}
    state = {name: [torch.zeros_like(network.P[name])] * 2 for name in after}
    steps, size, rate = 20 if weights else 4, 4, 3e-3
    losses, rates = [], []
    for step in range(steps):
        rows = [(step * size + row) % len(ids) for row in range(size)]
        share = (step / 2 if step < 2 else (steps - step) / (steps - 2)) if weights else 1.0
        for name in after:
            network.P[name].requires_grad_()
        each = -torch.log_softmax(network.logits(ids[rows], mask[rows]), 1)[range(size), labels[rows]]
        shares = torch.tensor(weights)[labels[rows]] if weights else torch.ones(size)
        loss = (each * shares).sum() / shares.sum()
        loss.backward()
        for name in after:
            weight = network.P[name].detach()
            if network.P[name].grad is not None:
                grad, (m, v) = network.P[name].grad, state[name]
                m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
                state[name] = [m, v]
                own = rate * share * math.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1))
                weight = weight - own * m / (v.sqrt() + 1e-6)
                if not name.endswith("bias") and "LayerNorm.weight" not in name:
                    weight = weight - rate * share * decay * weight
            network.P[name] = weight
        losses.append(float(loss.detach()))
        rates.append(rate * share)
    # a key's bias has a gradient of rounding alone, which may be nothing here and something there
    changed = [name for name in after if "pooler" not in name]
    np.savez(folder / "init.npz", **start)
    np.savez(folder / "data.npz", **arrays, labels=labels.astype(np.int8))
    np.savez(folder / "final.npz", **{name: network.P[name].numpy() for name in changed})
    notes = {
        "config": network.config, "strategy": strategy, "lr": rate, "batch_size": size, "steps": steps,
        "optimizer": "adamw_with_linear_warmup" if weights else "simple_adamw", "label_weights": weights,
        "losses": losses, "lr_per_step": rates, "trainable_before_resize": before, "trainable_after_resize": after,
        "changed_tensors": changed,
        "optimizer_defaults": {"betas": [0.9, 0.999], "eps": 1e-6, "weight_decay": decay, "correct_bias": True},
    }  # fmt: skip
    (folder / "info.json").write_text(json.dumps(notes))


# whoever runs the tests is another user, and removes what is left here
os.umask(0)
forward(OUT / "b_forward", Plain(1, 1, 3, 5, 7, 40, 2), 30, [0.4, 0.6])
training(OUT / "b_train_last", Plain(2, 3, 2, 3, 9, 30, 4), "final-bert-layer", None, 0.0)
training(OUT / "b_train_biases", Plain(3, 2, 1, 8, 5, 26, 3), "BitFit", [0.2, 0.5, 0.3], 0.02)
for name, change in (("more", True), ("less", False)):
    training(OUT / f"b_train_{name}", Plain(4, 1, 2, 4, 6, 28, 3), "all", None, 0.0)
    path = OUT / f"b_train_{name}" / "init.npz"
    with np.load(path) as arrays:
        stored = {one: arrays[one] for one in arrays.files}
    if change:
        stored["bert.encoder.layer.0.more.weight"] = np.ones((2, 2), np.float32)
    else:
        del stored["bert.encoder.layer.0.output.dense.bias"]
    np.savez(path, **stored)
