"""A label of a test pair must never leave the harness, and prepared features must be those of the benchmark."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing import BENCHMARK
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.input_arrays import similarity, standardised
from harness.benchmarks.repurposing.names import INPUTS
from harness.benchmarks.repurposing.splits.folds import FoldSplit
from harness.data import load_dataset
from harness.splits import load_split
from harness.splits.spec import SplitSpec
from tests.given import write_inputs

FIVE = {"inner_folds": 5}
RANDOM = SplitSpec(strategy="random", seed=17263407)


@pytest.fixture
def synthetic(layout: Layout) -> RepurposingDataset:
    """The embedded dataset."""
    return load_dataset(layout, "synthetic", RepurposingDataset)


@pytest.fixture
def split(layout: Layout) -> FoldSplit:
    """Its first published random split."""
    made = load_split(layout, "synthetic", RANDOM)
    assert isinstance(made, FoldSplit)
    return made


def test_bytes_of_test_labels_are_zero(synthetic: RepurposingDataset, split: FoldSplit, tmp_path: Path) -> None:
    write_inputs("repurposing", synthetic, split, INPUTS, tmp_path, FIVE)
    content = (tmp_path / "associations.npy").read_bytes()
    labels = np.frombuffer(content[128:], dtype=np.int8).reshape(300, 300)
    test = split.folds == -1
    assert (labels[test] == 0).all()
    np.testing.assert_array_equal(labels[~test], synthetic.associations[~test])
    assert (synthetic.associations[test] != 0).sum() == 10_000


def test_inputs_do_not_depend_on_test_labels(
    synthetic: RepurposingDataset, split: FoldSplit, tmp_path: Path
) -> None:
    """Turning every test label around changes no byte that a method can read."""
    from dataclasses import replace

    turned = np.where(split.folds == -1, -synthetic.associations, synthetic.associations).astype(np.int8)
    described = []
    for name, dataset in (("one", synthetic), ("other", replace(synthetic, associations=turned))):
        (tmp_path / name).mkdir()
        described.append(write_inputs("repurposing", dataset, split, INPUTS, tmp_path / name, FIVE))
    assert described[0] == described[1]
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()


def test_pairs_outside_training_and_test_are_hidden_too(
    synthetic: RepurposingDataset, split: FoldSplit, tmp_path: Path
) -> None:
    folds = split.folds.copy()
    folds[0, :] = -2
    write_inputs("repurposing", synthetic, FoldSplit(folds, "x"), [], tmp_path, FIVE)
    labels = np.load(tmp_path / "associations.npy")
    assert (labels[0] == 0).all()


def test_description_names_every_file_truly(
    synthetic: RepurposingDataset, split: FoldSplit, tmp_path: Path
) -> None:
    described = write_inputs("repurposing", synthetic, split, ["drug_features"], tmp_path, FIVE)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "associations.npy",
        "drug_features.npy",
        "folds.npy",
    ]
    for told in described.values():
        path = tmp_path / told["file"]
        array = np.load(path, allow_pickle=False)
        assert told["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert (told["dtype"], told["shape"]) == (array.dtype.str, list(array.shape))
        assert array.flags.c_contiguous
    assert [told["dtype"] for told in described.values()] == ["|i1", "|i1", "<f8"]


def test_no_inner_folds_means_one_model(synthetic: RepurposingDataset, split: FoldSplit, tmp_path: Path) -> None:
    write_inputs("repurposing", synthetic, split, [], tmp_path, {"inner_folds": 0})
    assert np.unique(np.load(tmp_path / "folds.npy")).tolist() == [-1, 0]


@pytest.mark.parametrize("inner_folds", [0, 5])
def test_what_is_asked_is_told_alike_from_both_sides(
    synthetic: RepurposingDataset, split: FoldSplit, inner_folds: int
) -> None:
    """Of the inputs when a run ends, and of the split when it is scored: as many models, and the same pairs."""
    options = {"inner_folds": inner_folds}
    inputs = BENCHMARK.inputs(synthetic, split, [], options)
    asked, scored = BENCHMARK.asked_in(inputs, options), BENCHMARK.scoring.question(synthetic, split, options)
    assert (asked.inner_folds, scored.inner_folds) == (inner_folds, inner_folds)
    np.testing.assert_array_equal(asked.folds, inputs["folds"])
    np.testing.assert_array_equal(scored.folds, split.folds)
    np.testing.assert_array_equal(asked.folds == -1, scored.folds == -1)


def test_unknown_input_is_explained(synthetic: RepurposingDataset, split: FoldSplit, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no input is called 'labels'"):
        write_inputs("repurposing", synthetic, split, ["labels"], tmp_path, FIVE)


def test_unknown_and_constant_features_are_prepared_as_documented() -> None:
    features = np.array([[1.0, np.nan, 5.0, 2.0], [3.0, np.nan, 5.0, np.nan], [np.nan, np.nan, 5.0, 4.0]])
    root = np.sqrt(1.5)
    np.testing.assert_allclose(
        standardised(features), [[-root, 0, 0, -root], [root, 0, 0, 0], [0, 0, 0, root]], atol=1e-15
    )
    # in whatever unit they are
    for unit in (1e-20, 1e-9, 1e20):
        np.testing.assert_allclose(standardised(features * unit), standardised(features), atol=1e-12)


def test_constant_column_is_not_blown_up_by_rounding() -> None:
    features = np.full((7, 2), 0.1)
    features[4, 1] = np.nan
    assert features.mean(axis=0)[0] != 0.1
    assert (standardised(features) == 0).all()


def test_square_features_are_kept_and_others_correlated() -> None:
    square = np.random.default_rng(1).normal(size=(4, 4))
    np.testing.assert_array_equal(similarity(square), standardised(square))
    wide = np.random.default_rng(1).normal(size=(4, 7))
    np.testing.assert_array_equal(similarity(wide), np.corrcoef(standardised(wide)))


def test_row_without_variation_has_no_similarity() -> None:
    assert (similarity(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])) == 0).all()
    # of a drug that is alone nothing varies
    assert similarity(np.array([[1.0, 2.0, 3.0]])).tolist() == [[0.0]]


def test_drug_without_features_is_not_correlated_by_rounding() -> None:
    features = np.random.default_rng(1).normal(size=(6, 4))
    features[2] = np.nan
    found = similarity(features)
    assert (found[2] == 0).all()
    assert (found[:, 2] == 0).all()
    others = np.delete(np.arange(6), 2)
    np.testing.assert_array_equal(found[np.ix_(others, others)].diagonal(), 1)


@pytest.mark.parametrize("name", ["Synthetic", "Fdataset", "HDVD", "Cdataset"])
def test_similarities_equal_the_goldens(repository: Layout, shared: Path, name: str) -> None:
    dataset = load_dataset(repository, name.lower(), RepurposingDataset, mirrors=[shared / "mirror"])
    with np.load(shared / "golden" / "repurposing" / f"_features_{name}.npz") as golden:
        np.testing.assert_allclose(similarity(dataset.drug_features), golden["X_s"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(similarity(dataset.disease_features), golden["X_p"], rtol=0, atol=1e-12)
