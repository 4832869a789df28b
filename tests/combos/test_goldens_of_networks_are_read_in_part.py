"""All that a golden batch or training holds must reach the method, and what belongs to no case must be named."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.benchmarks.combos.parity import networks
from harness.benchmarks.combos.parity.cases import cases_in
from harness.parity.cases import METHOD, METRICS
from harness.parity.goldens import Golden

CONFIG = {"config": {"layers": 2}, "vocab_size_with_markers": 5, "marker_ids": [3, 4]}
BATCH: dict[str, Any] = {
    "texts": ["a <<m>> b", "c"],
    "entity_start_positions": [[1, 2], [0]],
    "subwords": [["a", "##b"], ["c"]],
    "max_seq_length": 8,
    "train_metrics_compute_f1": {"p": 0.5, "f1": 0.25},
    "loss_weighted_1_2.5_3": 0.75,
}
NOTES: dict[str, Any] = {
    "losses": [0.5, 0.25],
    "lr_per_step": [1e-3, 1e-4],
    "trainable_before_resize": ["one"],
    "trainable_after_resize": ["one", "two"],
    "changed_tensors": ["one", "layer.0.attention.self.key.bias", "two"],
    "seed": 7,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A golden folder with a batch, a training and an evaluation."""
    batches, training, evaluated = (tmp_path / name for name in ("b_forward", "b_train_small", "d_eval"))
    for path in (batches, training, evaluated):
        path.mkdir()
    np.savez(batches / "state_dict.npz", weight=np.arange(3.0))
    np.savez(batches / "first.npz", labels=np.array([1, 0]), logits=np.array([[0.5, 0.5]]))
    (batches / "vocab.txt").write_text("[PAD]\nna\u0308\n\u00e9\n", encoding="utf-8")
    (batches / "cases.json.gz").write_bytes(
        gzip.compress(json.dumps({**CONFIG, "batches": {"first": BATCH}}).encode())
    )
    for name, value in (("init", 1.0), ("data", 2.0), ("final", 3.0)):
        np.savez(training / f"{name}.npz", one=np.array([value]))
    (training / "info.json").write_text(json.dumps(NOTES))
    for name in ("scores.json", "one.jsonl.gz"):
        (evaluated / name).write_bytes(b"")
    return tmp_path


def _read(folder: Path, name: str, layout: Layout) -> Golden:
    return next(case for case in cases_in(folder) if case.name == name).content(layout, [])


def _hash(text: str) -> list[int]:
    return [*hashlib.sha256(text.encode()).digest()]


def test_a_batch_holds_what_goes_in_and_what_comes_out(folder: Path, layout: Layout) -> None:
    golden = _read(folder, "b_forward/first", layout)
    arrays = {name: array.tolist() for name, array in golden.arrays.items()}
    assert arrays == {
        "in/texts": ["a <<m>> b", "c"],
        "in/vocabulary": ["[PAD]", "na\u0308", "\u00e9"],
        "in/labels": [1, 0],
        "out/starts": [[1, 2], [0, -1]],
        "out/subwords": [_hash("a ##b"), _hash("c")],
        # by name, as the notes say
        "out/f1": [0.25, 0.5],
        "out/logits": [[0.5, 0.5]],
        "param/weight": [0.0, 1.0, 2.0],
    }
    assert golden.about == {**CONFIG, "max_seq_length": 8, "label_weights": [1.0, 2.5, 3.0], "f1": ["f1", "p"]}


def test_a_batch_that_nobody_described_is_refused(folder: Path, layout: Layout) -> None:
    (folder / "b_forward" / "first.npz").rename(folder / "b_forward" / "second.npz")
    with pytest.raises(CorruptData, match="no batch of this name") as refused:
        _read(folder, "b_forward/second", layout)
    assert refused.value.where == str(folder / "b_forward" / "cases.json.gz")
    assert refused.value.todo == "get cases.json.gz and second.npz again"


def test_a_training_holds_weights_before_and_after(folder: Path, layout: Layout) -> None:
    golden = _read(folder, "b_train_small", layout)
    arrays = {name: array.tolist() for name, array in golden.arrays.items()}
    assert arrays == {
        "param/one": [1.0],
        "in/one": [2.0],
        "after/one": [3.0],
        "losses": [0.5, 0.25],
        "lr_per_step": [1e-3, 1e-4],
        "trainable_before_resize": [_hash("one")],
        "trainable_after_resize": [_hash("one"), _hash("two")],
        # but for one whose gradient is zero
        "changed_tensors": [_hash("one"), _hash("two")],
    }
    assert golden.about == {"seed": 7}


def test_every_file_belongs_to_its_case(folder: Path) -> None:
    (folder / "z_unheard_of.json").write_bytes(b"")
    cases = {
        case.name: (case.subject, case.path.name, {path.name for path in case.files}) for case in cases_in(folder)
    }
    assert cases == {
        "b_forward/first": (METHOD, "first.npz", {*networks.SHARED}),
        "b_train_small": (METHOD, "info.json", {*networks.TRAINED}),
        "d_eval": (METRICS, "scores.json", {"scores.json", "one.jsonl.gz"}),
        "z_unheard_of.json": (METHOD, "z_unheard_of.json", set()),
    }
    assert all(path.parent == case.path.parent for case in cases_in(folder) for path in case.files)


def test_a_folder_of_others_has_no_case(tmp_path: Path) -> None:
    (tmp_path / "arrays.npz").write_bytes(b"")
    assert [*cases_in(tmp_path)] == []
