"""Scores of a crate are computed from its own labels, or from those here; what is another thing is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.data import datasets, load_dataset, load_manifest
from harness.export import scores
from harness.export.contents import crate_layout
from harness.export.scores import labels_of, recompute
from harness.results.scoring import parse_scores, scorer_digest
from harness.results.store import Store


def test_scores_come_out_again(whole: Path, empty: Layout, keys: list[str]) -> None:
    crate = crate_layout(whole)
    for key in keys[:3]:
        record = Store(crate.runs).record(key)
        found = recompute(crate, empty, record)
        kept = parse_scores(json.loads((whole / "scores" / key[:2] / f"{key}.json").read_text()))
        assert kept and found.to_json() == kept.to_json()
        assert (found.key, found.scorer) == (key, scorer_digest("repurposing"))
        assert found.evidence == {
            name: record.files[name].sha256 for name in ("predictions.npy", "validation.npy", "lowest.npy")
        }


def test_labels_are_taken_from_here_only_where_they_are(
    crate: Path, empty: Layout, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = crate_layout(crate)
    record, mirrors, calls = Store(own.runs).record(keys[0]), (Path("/a mirror"),), list[Any]()
    expected = recompute(own, empty, record)
    shutil.rmtree(labels_of(own, record.planned))

    def at_hand(layout: Layout, name: str, given: tuple[Path, ...]) -> bool:
        calls.append((layout, name, given))
        return bool(given)

    def load(layout: Layout, name: str, *, mirrors: tuple[Path, ...] = ()) -> Any:
        calls.append((layout, name, mirrors))
        return load_dataset(empty, name)

    monkeypatch.setattr(scores, "_is_at_hand", at_hand)
    monkeypatch.setattr(scores, "load_dataset", load)
    assert recompute(own, empty, record, list(mirrors)) == expected
    assert calls == [(empty, "synthetic", mirrors)] * 2
    with pytest.raises(MissingData) as refused:
        recompute(own, empty, record)
    assert refused.value.what == "the labels of dataset 'synthetic' may not lie in a crate, and are not here"
    assert refused.value.where == f"dataset {record.planned.dataset_digest[:16]}"
    assert refused.value.todo == ("name a folder of its files with --mirror, or run `harness data get synthetic`")


def test_other_labels_and_splits_are_refused(crate: Path, empty: Layout, keys: list[str]) -> None:
    own = crate_layout(crate)
    record = Store(own.runs).record(keys[0])
    planned = record.planned.model_copy(update={"dataset_digest": "f" * 64})
    shutil.copytree(labels_of(own, record.planned), labels_of(own, planned))
    with pytest.raises(CorruptData, match="the dataset is not the one of the run") as refused:
        recompute(own, empty, record.model_copy(update={"planned": planned}))
    assert refused.value.where == f"{planned.job.label}: {record.planned.dataset_digest[:16]}"
    assert refused.value.todo == "pack it anew"
    path = crate / "data" / "splits" / f"{record.planned.split_digest}.npy"
    folds = np.load(path)
    folds[0, 0] = 1 - folds[0, 0]
    np.save(path, folds)
    with pytest.raises(CorruptData, match="the split is not the one of the run") as refused:
        recompute(own, empty, record)
    assert (refused.value.where, refused.value.todo) == (str(path), "pack it anew")


def test_a_larger_dataset_is_here_where_the_one_below_it_is(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = load_manifest(repository, "synthetic")
    extends = {"larger": "middle", "middle": "synthetic", "synthetic": "", "other": ""}

    def load(layout: Layout, name: str) -> Any:
        assert layout == repository
        return SimpleNamespace(name=name, extends=extends[name], files=["a file"], bring="", brought=[])

    def local_copy(layout: Layout, name: str, file: str, mirrors: Any) -> bool:
        assert (layout, file, mirrors) == (repository, "a file", ("m",))
        return name == manifest.name

    for place in (scores, datasets):
        monkeypatch.setattr(place, "has_manifest", lambda layout, name: layout == repository and name in extends)
        monkeypatch.setattr(place, "load_manifest", load)
    monkeypatch.setattr(datasets, "is_converted", lambda *_: False)
    monkeypatch.setattr(datasets, "local_copy", local_copy)
    mirrors: Any = ("m",)
    found = {name: scores._is_at_hand(repository, name, mirrors) for name in (*extends, "unknown")}
    assert found == {"larger": True, "middle": True, "synthetic": True, "other": False, "unknown": False}
