"""Converted arrays must be those of the published benchmark, value for value, and stay so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data import load_dataset, load_manifest, manifest_names
from harness.data.arrays import content_digest

PUBLISHED = {"synthetic": "Synthetic", "fdataset": "Fdataset", "hdvd": "HDVD", "cdataset": "Cdataset"}
BROUGHT = {"dndataset", "gottlieb", "predict_private", "predict_public", "transcript"}


def test_every_manifest_is_valid_and_records_a_digest(repository: Layout) -> None:
    names = manifest_names(repository)
    assert {*PUBLISHED, *BROUGHT, "lrssl"} <= set(names)
    for name in names:
        manifest = load_manifest(repository, name)
        assert manifest.converted is not None or name not in PUBLISHED
        assert bool(manifest.bring) == (name in BROUGHT)


def test_synthetic_needs_no_download_and_has_the_recorded_digest(private: Layout) -> None:
    dataset = load_dataset(private, "synthetic", RepurposingDataset)
    assert dataset.statistics().positives == 40_000
    assert (dataset.associations[:200, :200] == 1).all()
    assert (dataset.associations[200:, 200:] == -1).all()
    recorded = load_manifest(private, "synthetic").converted
    assert recorded is not None
    assert dataset.digest == recorded.digest


@pytest.mark.parametrize("name", PUBLISHED)
def test_features_and_labels_equal_the_goldens(private: Layout, shared: Path, name: str) -> None:
    dataset = load_dataset(private, name, RepurposingDataset, mirrors=[shared / "mirror"])
    folder = shared / "golden" / "repurposing"
    with np.load(folder / f"_features_{PUBLISHED[name]}.npz") as golden:
        np.testing.assert_array_equal(dataset.drug_features, golden["S"])
        np.testing.assert_array_equal(dataset.disease_features, golden["P"])
    trained = folder / f"ALSWR_{PUBLISHED[name]}_17263407.npz"
    if trained.is_file():
        with np.load(trained) as golden:
            expected = np.where(golden["val_mask"] == 1, 0, dataset.associations)
            np.testing.assert_array_equal(golden["A_train"], expected)


def test_lrssl_has_one_drug_with_another_name_in_one_of_its_tables(private: Layout, shared: Path) -> None:
    dataset = load_dataset(private, "lrssl", RepurposingDataset, mirrors=[shared / "mirror"])
    unknown = np.isnan(dataset.drug_features)
    (drug,) = np.flatnonzero(unknown.any(axis=1))
    assert dataset.drug_ids[drug] == "ergoloid mesylates, usp"
    assert unknown[drug].sum() == 623
    assert unknown[drug, :623].all()
    assert (dataset.drug_feature_names[0], dataset.drug_feature_names[623]) == ("SUB1", "IPR002209")


def test_changed_array_in_the_cache_is_found(private: Layout) -> None:
    dataset = load_dataset(private, "synthetic")
    path = private.cache / "datasets" / dataset.digest / "associations.npy"
    content = bytearray(path.read_bytes())
    content[-1] = 1
    path.write_bytes(content)
    _new_process()
    with pytest.raises(CorruptData, match="kept arrays of dataset 'synthetic' were changed"):
        load_dataset(private, "synthetic")


@pytest.mark.parametrize("digest", ["0" * 64, "f" * 64])
def test_another_digest_in_the_cache_is_found(private: Layout, digest: str) -> None:
    dataset = load_dataset(private, "synthetic")
    names = private.cache / "datasets" / dataset.digest / "names.json"
    names.write_text(names.read_text().replace(dataset.digest, digest))
    _new_process()
    with pytest.raises(CorruptData, match="kept arrays of dataset 'synthetic' were changed") as caught:
        load_dataset(private, "synthetic")
    assert f"digest is {dataset.digest}, not the recorded {digest}" in str(caught.value.where)


@pytest.mark.parametrize("damage", ["cut", "gone", "names"])
def test_half_a_cache_is_found(private: Layout, damage: str) -> None:
    folder = private.cache / "datasets" / load_dataset(private, "synthetic").digest
    if damage == "cut":
        path = folder / "drug_features.npy"
        path.write_bytes(path.read_bytes()[:-8])
    elif damage == "gone":
        (folder / "disease_features.npy").unlink()
    else:
        (folder / "names.json").write_text("{")
    _new_process()
    with pytest.raises(CorruptData, match="remove that folder"):
        load_dataset(private, "synthetic")


def test_digest_sees_every_value_and_name(private: Layout) -> None:
    from dataclasses import replace

    dataset = load_dataset(private, "synthetic", RepurposingDataset)
    features = dataset.drug_features.copy()
    features[7, 3] = np.nextafter(features[7, 3], np.inf)
    assert content_digest(replace(dataset, drug_features=features)) != dataset.digest
    assert content_digest(replace(dataset, drug_ids=dataset.drug_ids[::-1])) != dataset.digest
    assert content_digest(replace(dataset, name="another")) == dataset.digest


def test_bytes_do_not_depend_on_memory_order_sign_of_zero_or_kind_of_nan() -> None:
    table = np.array([[0.0, np.nan], [1.5, -2.0]])
    other = np.asfortranarray(np.array([[-0.0, -np.nan], [1.5, -2.0]]))
    assert npy_bytes(table) == npy_bytes(other)
    assert len(npy_bytes(table)) == 128 + 32


def _new_process() -> None:
    """Forget what this process has read."""
    from harness.data import arrays as kept

    kept._read.cache_clear()
