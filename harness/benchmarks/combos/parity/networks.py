"""Golden batches and trainings of small encoders, as arrays and notes.

Names: `param/` weights before, `in/` what a batch is made of, `out/` what comes of it, `after/` changed weights.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.benchmarks.combos.parity.texts import hashes, padded
from harness.parity.goldens import Array, Golden, arrays_in

FORWARD, TRAINING = "b_forward", "b_train_"
SHARED = ("state_dict.npz", "cases.json.gz", "vocab.txt")
TRAINED = ("init.npz", "data.npz", "final.npz")
# the gradient of a key's bias is zero but for rounding: whether it changed says nothing of a method
_IDLE = ".attention.self.key.bias"
_WEIGHTED = "loss_weighted_"


def forward(path: Path, _layout: Layout, _mirrors: Sequence[Path]) -> Golden:
    """One batch: marked texts, word pieces and weights go in; ids, masks, logits and losses come out."""
    state, notes, vocabulary = (path.with_name(name) for name in SHARED)
    document = json.loads(gzip.decompress(notes.read_bytes()))
    if path.stem not in document["batches"]:
        raise CorruptData(
            "no batch of this name", where=str(notes), todo=f"get {notes.name} and {path.name} again"
        )
    batch = document["batches"][path.stem]
    stored = dict(arrays_in(path))
    weights = next(name.removeprefix(_WEIGHTED) for name in batch if name.startswith(_WEIGHTED))
    metrics = batch["train_metrics_compute_f1"]
    arrays: dict[str, Array] = {
        "in/texts": np.array(batch["texts"]),
        "in/vocabulary": np.array(vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")),
        "in/labels": stored.pop("labels"),
        "out/starts": padded(batch["entity_start_positions"]),
        "out/subwords": hashes(" ".join(row) for row in batch["subwords"]),
        "out/f1": np.array([metrics[name] for name in sorted(metrics)]),
        **{f"out/{name}": array for name, array in stored.items()},
        **_prefixed("param", arrays_in(state)),
    }
    config = {name: document[name] for name in ("config", "vocab_size_with_markers", "marker_ids")}
    label_weights = [float(weight) for weight in weights.split("_")]
    # names of columns of out/f1, in order
    about = {"max_seq_length": batch["max_seq_length"], "label_weights": label_weights, "f1": sorted(metrics)}
    return Golden(arrays, {**config, **about})


def training(path: Path, _layout: Layout, _mirrors: Sequence[Path]) -> Golden:
    """Some steps of training: losses, rates, what is trained by name, and the weights that changed."""
    start, data, final = (path.with_name(name) for name in TRAINED)
    notes: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    notes["changed_tensors"] = [name for name in notes["changed_tensors"] if not name.endswith(_IDLE)]
    names = ("trainable_before_resize", "trainable_after_resize", "changed_tensors")
    arrays = {
        **_prefixed("param", arrays_in(start)),
        **_prefixed("in", arrays_in(data)),
        **_prefixed("after", arrays_in(final)),
        "losses": np.array(notes.pop("losses")),
        "lr_per_step": np.array(notes.pop("lr_per_step")),
        # in their order
        **{name: hashes(notes.pop(name)) for name in names},
    }
    return Golden(arrays, notes)


def _prefixed(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}
