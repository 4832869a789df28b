"""Own tables that were changed after they were converted must be refused wherever they are used, and be told."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.cli import data as command
from harness.data import dataset_digest, load_dataset, load_manifest
from harness.upkeep import doctor
from tests.data.own_data import TABLES, write_dataset

_TABLE = "drug_features.csv"
_CHANGED = TABLES[_TABLE].replace("206.3", "206.4")


def _pinned(own: Layout) -> Path:
    """A dataset whose manifest records its digest too, converted; returns the folder."""
    manifest = write_dataset(own)
    digest = load_dataset(own, "mine").digest
    manifest.write_text(f'{manifest.read_text()}[converted]\ndigest = "{digest}"\n')
    assert load_dataset(own, "mine").digest == dataset_digest(own, "mine") == digest
    return manifest.parent


@pytest.mark.parametrize("pinned", [True, False])
def test_a_changed_table_is_refused_until_it_is_put_back(own: Layout, pinned: bool) -> None:
    folder = _pinned(own) if pinned else write_dataset(own).parent
    honest = load_dataset(own, "mine").digest
    (folder / _TABLE).write_text(_CHANGED)
    for use in (load_dataset, dataset_digest):
        with pytest.raises(CorruptData, match=f"'mine': {_TABLE} changed") as caught:
            use(own, "mine")
        assert str(folder / _TABLE) in caught.value.where and "sha256 is" in caught.value.where
        assert str(folder / "dataset.toml") in caught.value.todo
    (folder / _TABLE).write_text(TABLES[_TABLE])
    assert load_dataset(own, "mine").digest == dataset_digest(own, "mine") == honest


def test_every_changed_table_is_told_with_its_place(own: Layout) -> None:
    folder = write_dataset(own).parent
    names = ["disease_features.csv", _TABLE]
    for name in names:
        (folder / name).write_text(TABLES[name].replace("1", "2"))
    with pytest.raises(CorruptData) as caught:
        load_dataset(own, "mine")
    assert all(name in caught.value.what and f"{folder / name}: " in caught.value.where for name in names)


def test_a_digest_left_behind_does_not_stand_for_changed_tables(own: Layout) -> None:
    folder = _pinned(own)
    (folder / _TABLE).write_text(_CHANGED)
    old, new = (hashlib.sha256(text.encode()).hexdigest() for text in (TABLES[_TABLE], _CHANGED))
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace(old, new))
    with pytest.raises(CorruptData, match="converted to other arrays"):
        load_dataset(own, "mine")


def test_the_lists_tell_it(own: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _pinned(own)
    (folder / _TABLE).write_text(_CHANGED)
    monkeypatch.setattr(command, "find_layout", lambda: own)
    told = f"changed, not what the manifest records: {_TABLE}"
    assert told in CliRunner().invoke(command.command, ["list"]).output
    (check,) = doctor.data_checks(own)
    assert check.state is doctor.State.FAIL and check.detail == told


def test_an_absent_table_that_was_converted_is_no_change(own: Layout) -> None:
    folder = _pinned(own)
    (folder / _TABLE).unlink()
    assert load_dataset(own, "mine").digest == load_manifest(own, "mine").converted.digest  # type: ignore[union-attr]
