"""A dataset nobody can fetch must be asked for, spoil nothing while it is absent, and work once it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import CorruptData, ManifestError, MissingData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.input_arrays import views
from harness.data import dataset_digest, load_dataset, load_manifest
from harness.data.datasets import is_converted, is_here
from harness.planning.jobs import Job
from harness.planning.plan import make_plan
from harness.splits.spec import SplitSpec
from tests.data.own_data import TABLES

MANIFEST = """
name = "{name}"
title = "Brought"
benchmark = "repurposing"
citation = "none"
licence = "none"
converter = "csv"
bring = "it lies in an outside archive"
{more}
[statistics]
associated = true
drugs = {drugs}
diseases = 2
positives = 2
negatives = 1
drug_features = 2
disease_features = 1
"""


def write_manifest(layout: Layout, *, drugs: int = 2, more: str = "") -> Path:
    """A dataset to be brought; returns the folder of its tables. Zinc has no association and does not count."""
    folder = layout.datasets / "brought"
    (folder / "own").mkdir(parents=True)
    (folder / "dataset.toml").write_text(MANIFEST.format(name="brought", drugs=drugs, more=more))
    return folder / "own"


def bring(folder: Path) -> None:
    """Put the three tables there."""
    for name, text in TABLES.items():
        (folder / name).write_text(text)


def test_what_is_missing_is_said_with_the_reason_and_what_to_do(own: Layout) -> None:
    folder = write_manifest(own)
    (folder / "associations.csv").write_text(TABLES["associations.csv"])
    with pytest.raises(MissingData, match="has to be brought: it lies in an outside archive") as caught:
        load_dataset(own, "brought")
    assert caught.value.where == f"{folder}: no drug_features.csv, disease_features.csv"
    assert "docs/data.md" in caught.value.todo


def test_brought_tables_are_used_and_changed_ones_are_another_dataset(own: Layout) -> None:
    folder = write_manifest(own)
    bring(folder)
    dataset = load_dataset(own, "brought", RepurposingDataset)
    assert dataset.drug_ids == ("aspirin", "ibuprofen", "zinc")
    before = dataset_digest(own, "brought")
    (folder / "drug_features.csv").write_text(TABLES["drug_features.csv"].replace("180.2", "180.3"))
    assert dataset_digest(own, "brought") != before
    (folder / "drug_features.csv").write_text(TABLES["drug_features.csv"])
    assert dataset_digest(own, "brought") == before


def test_it_is_here_as_soon_as_its_last_table_is(own: Layout) -> None:
    folder, manifest = write_manifest(own), load_manifest(own, "brought")
    for name, text in TABLES.items():
        assert not is_here(own, manifest) and not is_converted(own, manifest)
        (folder / name).write_text(text)
    assert is_here(own, manifest) and not is_converted(own, manifest)
    load_dataset(own, "brought")
    assert is_here(own, manifest) and is_converted(own, manifest)
    (folder / "associations.csv").unlink()
    assert not is_here(own, manifest) and not is_converted(own, manifest)


def test_data_that_is_not_the_published_one_is_refused(own: Layout) -> None:
    bring(write_manifest(own, drugs=3))
    with pytest.raises(CorruptData, match="has 2 drugs, not 3"):
        load_dataset(own, "brought")


@pytest.mark.parametrize(
    "more",
    [
        f'[converted]\ndigest = "{"a" * 64}"',
        '[[files]]\nname = "a.csv"',
        '[[brought]]\nname = "a.csv"\nholds = "more of it"',
        '[parameters]\nprefix = "x"',
        'converter = "matlab"',
    ],
    ids=lambda text: text.split()[0],
)
def test_manifest_can_not_both_fetch_and_ask(own: Layout, more: str) -> None:
    folder = write_manifest(own, more="" if "converter" in more else more)
    if "converter" in more:
        path = folder.parent / "dataset.toml"
        path.write_text(path.read_text().replace('converter = "csv"', more))
    with pytest.raises(ManifestError, match="breaks its schema") as caught:
        load_manifest(own, "brought")
    assert "bring" in caught.value.where


@pytest.mark.parametrize("name", ["dndataset", "gottlieb", "predict_public", "predict_private", "transcript"])
def test_cell_of_absent_data_is_planned_as_missing(layout: Layout, tmp_path: Path, name: str) -> None:
    if (layout.datasets / name / "own").is_dir():
        pytest.skip("somebody brought it")
    split = SplitSpec(strategy="random", seed=1)
    jobs = [
        Job(benchmark="repurposing", method="constant", dataset=one, split=split) for one in (name, "synthetic")
    ]
    absent, present = make_plan(layout, "both", jobs).cells
    assert absent.verdict is Verdict.MISSING_DATA
    assert "has to be brought" in absent.reason
    assert present.planned is not None


def test_features_with_prefixes_make_views() -> None:
    assert views(["chemical-1", "chemical-2", "domain-1"]).tolist() == [0, 0, 1]
