"""A table only a person can bring must be asked for if it is needed, and never be mixed in unseen if it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import ManifestError, MissingData
from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.cli.data import _state
from harness.data import dataset_digest, load_dataset, load_manifest
from harness.data.datasets import fetch_dataset, is_converted, is_here
from tests.data.own_data import write_dataset

TABLE = '\n[[brought]]\nname = "more.csv"\nholds = "what nobody may publish"\n'


def with_table(own: Layout, more: str = "", *, recorded: bool = False) -> Path:
    """A dataset that has a table beside its files; returns the folder for it."""
    path = write_dataset(own)
    digest = f'\n[converted]\ndigest = "{load_dataset(own, "mine").digest}"\n' if recorded else ""
    path.write_text(path.read_text() + TABLE + more + digest)
    folder = path.parent / "own"
    folder.mkdir()
    return folder


def test_a_needed_table_is_asked_for(own: Layout) -> None:
    folder = with_table(own)
    for use in (load_dataset, dataset_digest, fetch_dataset):
        with pytest.raises(MissingData, match=r"more\.csv: what nobody may publish") as caught:
            use(own, "mine")
        assert caught.value.where == f"{folder}: no more.csv"
    assert _state(own, load_manifest(own, "mine"), ()).startswith("to be brought")
    (folder / "more.csv").write_text("a\n")
    assert fetch_dataset(own, "mine")["more.csv"] == folder / "more.csv"
    assert isinstance(load_dataset(own, "mine"), RepurposingDataset)


@pytest.mark.parametrize("recorded", [False, True])
def test_what_lacks_a_needed_table_is_not_here_and_no_error(own: Layout, *, recorded: bool) -> None:
    """Also where the arrays are here that were made without it: they are not of this manifest."""
    folder = with_table(own, recorded=recorded)
    manifest = load_manifest(own, "mine")
    assert not is_here(own, manifest) and not is_converted(own, manifest)
    (folder / "more.csv").write_text("a\n")
    assert is_here(own, manifest) and not is_converted(own, manifest)
    (folder.parent / "drug_features.csv").unlink()
    assert not is_here(own, manifest)


def test_of_several_tables_those_that_are_needed_are_asked_for(own: Layout) -> None:
    folder = with_table(own, TABLE.replace("more.csv", "extra.csv") + "optional = true\n")
    with pytest.raises(MissingData) as caught:
        load_dataset(own, "mine")
    assert caught.value.what == "dataset 'mine' has to be brought: more.csv: what nobody may publish"
    assert caught.value.where == f"{folder}: no more.csv"


def test_a_dataset_with_a_brought_table_is_another_than_the_recorded_one(own: Layout) -> None:
    folder = with_table(own, "optional = true\n", recorded=True)
    recorded = load_manifest(own, "mine").converted
    assert recorded is not None and dataset_digest(own, "mine") == recorded.digest
    assert "more.csv" not in fetch_dataset(own, "mine")
    converter = folder.parent / "with_more.py"
    converter.write_text(
        "from dataclasses import replace\n"
        "from harness.benchmarks.repurposing.converters import csv\n"
        "def convert(manifest, files):\n"
        "    dataset = csv.convert(manifest, files)\n"
        "    if 'more.csv' not in files:\n        return dataset\n"
        "    first = files['more.csv'].read_text().strip()\n"
        "    return replace(dataset, drug_ids=(first, *dataset.drug_ids[1:]))\n"
    )
    path = folder.parent / "dataset.toml"
    path.write_text(path.read_text().replace('converter = "csv"', 'converter = "./with_more.py"'))
    assert load_dataset(own, "mine").digest == recorded.digest
    digests = {recorded.digest}
    for name in ("one", "two"):
        (folder / "more.csv").write_text(name)
        assert load_dataset(own, "mine", RepurposingDataset).drug_ids[0] == name
        digests.add(dataset_digest(own, "mine"))
    assert len(digests) == 3
    (folder / "more.csv").unlink()
    assert load_dataset(own, "mine").digest == dataset_digest(own, "mine") == recorded.digest


@pytest.mark.parametrize(
    ("more", "field"), [(TABLE, "named twice: more.csv"), (TABLE.replace("more", "../more"), "plain file name")]
)
def test_a_faulty_entry_is_refused(own: Layout, more: str, field: str) -> None:
    with_table(own, more)
    with pytest.raises(ManifestError, match=r"dataset\.toml") as caught:
        load_manifest(own, "mine")
    assert field in str(caught.value)
