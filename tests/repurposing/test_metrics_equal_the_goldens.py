"""The published metrics must be the original code's to 1e-12, ties in NDCG included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.metrics import as_defined, as_published
from harness.benchmarks.repurposing.metrics.pairs import Pairs
from harness.data import load_dataset

GOLDEN = Path(__file__).parent.parent / "golden" / "repurposing" / "metrics.npz"
CASES = [f"c{number:02}" for number in range(0, 20, 2)]
TOLERANCE = 1e-12
# name here: name in the golden file, position there
NAMES: dict[str, tuple[str, int | None]] = {
    "NS-AUC": ("lin_auc", None),
    "AUC": ("global_auc", None),
    "disease-wise AUC": ("avg_AUC_binary_mean_sd", 0),
    # with numpy 1.23, whose order of ties is written out in introsort.py
    "NDCG": ("avg_NDCG_mean_sd", 0),
    "global NDCG": ("global_ndcg", None),
    "accuracy": ("acc", None),
    "F-score": ("avg_F_mean_sd", 0),
}
OF_METHODS = {
    "NS-AUC": "metric_NS_AUC",
    "AUC": "metric_AUC",
    "disease-wise AUC": "metric_avg_AUC",
    "NDCG": "metric_NDCGk",
    "global NDCG": "metric_global_NDCG",
    "accuracy": "metric_ACC",
}


def _case(name: str) -> dict[str, Any]:
    with np.load(GOLDEN) as golden:
        return {key.partition("/")[2]: golden[key] for key in golden.files if key.startswith(f"{name}/")}


def _pairs(golden: dict[str, Any]) -> Pairs:
    inside = golden["F"].astype(bool)
    return Pairs(inside, golden["A"][inside], golden["scores_after_fill"][inside])


@pytest.mark.parametrize("name", CASES)
def test_metrics_of_the_original_code(name: str) -> None:
    golden = _case(name)
    found = as_published.metrics(_pairs(golden))
    for metric, (key, position) in NAMES.items():
        expected = float(golden[key] if position is None else golden[key][position])
        value = found[metric]
        if np.isnan(expected):
            assert value is None
        else:
            assert value is not None
            assert abs(value - expected) < TOLERANCE, metric


@pytest.mark.parametrize("name", sorted({*CASES} - {"c04", "c14"}))
def test_metrics_on_scores_by_disease(name: str) -> None:
    """Formula and original agree on single diseases, but for labels of -1 (c04, c14): the original drops some."""
    golden = _case(name)
    found = as_defined.metrics(_pairs(golden))
    for metric, key in (("NS-AUC", "ns_auc_cols"), ("disease-wise AUC", "disease_auc_on_scores")):
        value = found[metric]
        assert value is not None
        assert abs(value - golden[key].mean()) < TOLERANCE


@pytest.mark.parametrize("name", CASES)
def test_zeros_are_filled_as_in_the_original(name: str) -> None:
    golden = _case(name)
    inside = golden["F"].astype(bool)
    scores = golden["S"]
    others = scores[scores != 0]
    filled = as_published.without_zeros(scores[inside], float(others.min()) if len(others) else 0.0)
    np.testing.assert_array_equal(filled, golden["scores_after_fill"][inside])


@pytest.mark.parametrize("case", ["ALSWR_Synthetic", "ALSWR_Fdataset", "LogisticMF_Fdataset", "PMF_Fdataset"])
def test_metrics_of_methods_on_whole_datasets(repository: Layout, shared: Path, case: str) -> None:
    """ALSWR on Fdataset has 3,754 scores of 0: half the lowest score of the whole matrix takes their place."""
    name = case.partition("_")[2].lower()
    labels = load_dataset(repository, name, RepurposingDataset, mirrors=[shared / "mirror"]).associations
    with np.load(shared / "golden" / "repurposing" / f"{case}_17263407.npz") as golden:
        scores = golden["pred"]
        inside = golden["val_mask"].astype(bool)
        filled = as_published.without_zeros(scores[inside], float(scores[scores != 0].min()))
        found = as_published.metrics(Pairs(inside, labels[inside], filled))
        for metric, key in OF_METHODS.items():
            value = found[metric]
            assert value is not None
            assert abs(value - float(golden[key])) < TOLERANCE, metric
