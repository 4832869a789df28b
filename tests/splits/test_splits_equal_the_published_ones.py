"""Splits must be the published ones, pair for pair, and a published checksum must never change."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.seeds import published_seeds
from harness.benchmarks.repurposing.splits.separation import separation
from harness.data import load_dataset
from harness.splits import load_split, make_split, split_digest
from harness.splits.checksums import Recorded, record_splits, recorded_splits
from harness.splits.spec import SplitSpec
from harness.splits.splits import as_recorded, complete, split_path
from tests.splits.kinds import as_folds

GOLDEN = Path(__file__).parent.parent / "golden" / "repurposing"
REAL = {"Fdataset": "fdataset", "Cdataset": "cdataset", "HDVD": "hdvd", "LRSSL": "lrssl"}


def _random_golden(path: Path) -> tuple[np.typing.NDArray[np.bool_], np.typing.NDArray[np.bool_]]:
    with np.load(path) as golden:
        shape = tuple(golden["shape"])
        masks = [np.unpackbits(golden[name])[: np.prod(shape)] for name in ("train_mask", "val_mask")]
    training, test = (mask.reshape(shape).astype(bool) for mask in masks)
    return training, test


def _weakly_spec(path: Path) -> SplitSpec:
    metric, stop, seed = path.stem.split("_")[3:]
    parameters = {"metric": metric, "early_stop": None if stop == "None" else int(stop)}
    return SplitSpec(strategy="weakly_correlated", seed=int(seed), parameters=parameters)


def test_random_split_of_synthetic(private: Layout) -> None:
    training, test = _random_golden(GOLDEN / "split_random_Synthetic_17263407.npz")
    folds = as_folds(load_split(private, "synthetic", SplitSpec(strategy="random", seed=17263407))).folds
    np.testing.assert_array_equal(folds == -1, test)
    np.testing.assert_array_equal(folds >= 0, training)


@pytest.mark.parametrize("name", REAL)
def test_random_split_of_real_data(private: Layout, shared: Path, name: str) -> None:
    training, test = _random_golden(shared / "golden" / "repurposing" / f"split_random_{name}_17263407.npz")
    spec = SplitSpec(strategy="random", seed=17263407)
    folds = as_folds(load_split(private, REAL[name], spec, [shared / "mirror"])).folds
    np.testing.assert_array_equal(folds == -1, test)
    np.testing.assert_array_equal(folds >= 0, training)


def test_distances_between_drugs_equal_the_published_ones(private: Layout, shared: Path) -> None:
    """Those of equal drugs are rounding of the matrix product, and differ with the BLAS."""
    for path in sorted((shared / "golden" / "repurposing").glob("split_*.npz")):
        kind, name = path.stem.split("_")[1:3]
        spec = _weakly_spec(path) if kind == "weakly" else SplitSpec(strategy="random", seed=17263407)
        dataset = load_dataset(private, name.lower(), RepurposingDataset, mirrors=[shared / "mirror"])
        folds = as_folds(make_split(private, name.lower(), spec, [shared / "mirror"])).folds
        found = separation(dataset, folds, spec.parameters.get("metric", "euclidean"))
        with np.load(path) as golden:
            np.testing.assert_allclose(found, golden["dist"], rtol=1e-12, atol=3e-7)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("split_weakly_*.npz")), ids=lambda path: path.stem)
def test_weakly_correlated_split_of_synthetic(private: Layout, path: Path) -> None:
    _check_weakly(as_folds(load_split(private, "synthetic", _weakly_spec(path))).folds, path)


def test_weakly_correlated_split_of_real_data(private: Layout, shared: Path) -> None:
    paths = sorted((shared / "golden" / "repurposing").glob("split_weakly_Fdataset_*.npz"))
    assert paths
    for path in paths:
        _check_weakly(
            as_folds(make_split(private, "fdataset", _weakly_spec(path), [shared / "mirror"])).folds, path
        )


def _check_weakly(folds: np.typing.NDArray[np.int8], path: Path) -> None:
    with np.load(path) as golden:
        np.testing.assert_array_equal(np.flatnonzero((folds == -1).all(axis=1)), golden["val_drugs"])
        np.testing.assert_array_equal(np.flatnonzero((folds >= 0).all(axis=1)), golden["train_drugs"])


def test_seeds_are_the_published_ones() -> None:
    seeds = published_seeds()
    assert seeds[:5] == (17263407, 22928437, 978124, 78863732, 17646232)
    assert len(set(seeds)) == 100


def test_every_published_seed_has_a_checksum(repository: Layout) -> None:
    for dataset in ("synthetic", *REAL.values()):
        lines = recorded_splits(repository, dataset).values()
        for strategy in ("random", "weakly_correlated"):
            seeds = [line.spec.seed for line in lines if line.spec.strategy == strategy]
            assert seeds == list(published_seeds())


def test_made_again_a_split_has_the_recorded_checksum(private: Layout) -> None:
    for strategy in ("random", "weakly_correlated"):
        for seed in published_seeds()[:3]:
            spec = SplitSpec(strategy=strategy, seed=seed)
            assert make_split(private, "synthetic", spec).digest == split_digest(private, "synthetic", spec)


def test_digest_of_a_published_split_needs_no_data(private: Layout) -> None:
    digest = split_digest(private, "fdataset", SplitSpec(strategy="random", seed=17263407))
    assert len(digest) == 64
    assert not private.cache.exists()


def test_spelling_out_a_default_changes_nothing(private: Layout) -> None:
    short = SplitSpec(strategy="random", seed=17263407)
    assert split_digest(private, "hdvd", complete("repurposing", short)) == split_digest(private, "hdvd", short)


def test_published_checksum_can_not_be_changed(private: Layout, tmp_path: Path) -> None:
    own = _with_datasets(private, tmp_path)
    spec = complete("repurposing", SplitSpec(strategy="random", seed=5))
    record_splits(own, "synthetic", [Recorded(spec, 1, 2, "a" * 64)])
    record_splits(own, "synthetic", [Recorded(spec, 1, 2, "a" * 64)])
    with pytest.raises(CorruptData, match="published with another checksum"):
        record_splits(own, "synthetic", [Recorded(spec, 1, 2, "b" * 64)])


def test_split_that_comes_out_different_is_refused(private: Layout, tmp_path: Path) -> None:
    own = _with_datasets(private, tmp_path)
    spec = complete("repurposing", SplitSpec(strategy="random", seed=5))
    record_splits(own, "synthetic", [Recorded(spec, 1, 2, "a" * 64)])
    with pytest.raises(CorruptData, match="came out different from the published one"):
        load_split(own, "synthetic", spec)
    assert not (own.cache / "splits").exists()


def test_unreadable_line_of_checksums_is_named(private: Layout, tmp_path: Path) -> None:
    own = _with_datasets(private, tmp_path)
    path = own.datasets / "synthetic" / "splits.csv"
    path.write_text("strategy,parameters,seed,training,test,sha256\nrandom,{,1,2,3,abc\n")
    with pytest.raises(CorruptData, match=r"splits.csv: line 2"):
        split_digest(own, "synthetic", SplitSpec(strategy="random", seed=1))


def test_changed_split_file_is_found(private: Layout) -> None:
    spec = SplitSpec(strategy="random", seed=17263407)
    path = split_path(private, "repurposing", load_split(private, "synthetic", spec).digest)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptData, match="a split file was changed"):
        load_split(private, "synthetic", spec)


def test_unpublished_split_is_made_once_and_found_again(private: Layout) -> None:
    spec = SplitSpec(strategy="random", seed=1, parameters={"test_share": 0.3, "inner_folds": 3})
    split = load_split(private, "synthetic", spec)
    assert as_folds(split).inner_folds == 3
    assert split_digest(private, "synthetic", spec) == split.digest
    line = as_recorded("repurposing", spec, split)
    assert (line.training, line.test) == (63_000, 27_000)


@pytest.mark.parametrize(
    ("strategy", "parameters", "message"),
    [
        ("randon", {}, "did you mean 'random'"),
        ("random", {"test_share": 1.5}, "test_share: has to be less than 1.0, not 1.5"),
        ("random", {"share": 0.1}, "share: there is no such field; did you mean 'test_share'?"),
        (
            "weakly_correlated",
            {"metric": "manhattan"},
            "metric: has to be 'euclidean' or 'cosine', not 'manhattan'",
        ),
    ],
)
def test_wrong_request_is_explained(
    private: Layout, strategy: str, parameters: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        split_digest(private, "synthetic", SplitSpec(strategy=strategy, seed=1, parameters=parameters))


def test_inner_folds_can_be_left_out_but_not_renumbered(private: Layout) -> None:
    split = as_folds(load_split(private, "synthetic", SplitSpec(strategy="random", seed=17263407)))
    assert split.for_inner_folds(5) is split.folds
    flat = split.for_inner_folds(0)
    assert np.unique(flat).tolist() == [-1, 0]
    np.testing.assert_array_equal(flat == -1, split.folds == -1)
    with pytest.raises(UsageError, match="5 inner folds, the job wants 7"):
        split.for_inner_folds(7)


def _with_datasets(layout: Layout, folder: Path) -> Layout:
    """A repository whose datasets may be changed."""
    import shutil

    shutil.copytree(layout.datasets, folder / "datasets")
    own = Layout(root=folder, cache=folder / "cache", local=folder / "local")
    assert load_dataset(own, "synthetic").digest
    return own
