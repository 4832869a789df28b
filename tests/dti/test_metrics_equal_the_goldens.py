"""Metrics must be scikit-learn's and DTINet's to 1e-12, and a golden that says otherwise must be told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.dti.parity.metrics import check_metrics
from harness.execution.trials import on_demand
from harness.parity import check_cases, find_cases
from harness.parity.finding import Standing

NAMES = {
    "auroc",
    "ap",
    "pr_auc_trapz_sklearn",
    "precision_at_0.5",
    "recall_at_0.5",
    "f1_at_0.5",
    "best_f1",
    "best_f1_threshold",
    "general_f1_0.5",
    "general_bestf1",
    "pr_auc_dtinet",
    "prf_at_k",
    "map_minkR",
    "map_R",
    "map_hits",
}
Arrays = dict[str, np.typing.NDArray[np.float64]]


@pytest.fixture
def arrays(shared: Path) -> Arrays:
    with np.load(shared / "golden" / "dti" / "metrics.npz") as golden:
        return dict(golden)


def test_all_cases_agree(layout: Layout, shared: Path) -> None:
    with on_demand(layout) as run:
        (finding,) = check_cases(layout, find_cases(shared / "golden" / "dti"), [], run, only=["metrics"])
    assert {array.array: array.standing for array in finding.arrays} == dict.fromkeys(NAMES, Standing.OK)
    assert all(array.error is not None and array.error <= 1e-12 for array in finding.arrays)


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("fault", ["off", "absent"])
def test_a_golden_that_differs_in_one_case_is_told(arrays: Arrays, name: str, fault: str) -> None:
    case = next(f"c{number}_{name}" for number in (5, 0) if f"c{number}_{name}" in arrays)
    if fault == "off":
        arrays[case] = arrays[case] + 1e-9
    else:
        del arrays[case]
    standings = {finding.array: finding.standing for finding in check_metrics(arrays)}
    expected = dict.fromkeys(NAMES, Standing.OK) | {name: Standing.BEYOND if fault == "off" else Standing.ABSENT}
    assert standings == expected


@pytest.mark.parametrize("lacking", ["cases", "c3_y", "c3_q_len"])
def test_a_golden_without_scores_is_told(arrays: Arrays, lacking: str) -> None:
    del arrays[lacking]
    (finding,) = check_metrics(arrays)
    assert finding.standing is Standing.FAILED


@pytest.mark.parametrize(
    ("part", "value", "undefined"),
    [
        ("y", 0, {"auroc", "ap", "pr_auc_trapz_sklearn", "best_f1", "best_f1_threshold"}),
        ("y", 1, {"auroc", "ap", "pr_auc_trapz_sklearn", "best_f1"}),
        ("q_y", 0, {"map_minkR", "map_R", "map_hits"}),
    ],
)
def test_a_metric_that_a_case_leaves_undefined_is_no_number(
    arrays: Arrays, part: str, value: int, undefined: set[str]
) -> None:
    """Where all pairs bind, or none: a number in the golden is told as beyond, and none in it agrees."""
    if part == "y":
        undefined = {*undefined, "general_f1_0.5", "general_bestf1", *(() if value else ("pr_auc_dtinet",))}
    arrays[f"c0_{part}"] = np.full_like(arrays[f"c0_{part}"], value)
    standings = {finding.array: finding.standing for finding in check_metrics(arrays)}
    assert standings.keys() == NAMES
    assert {standings[name] for name in undefined} == {Standing.BEYOND}
    for name in undefined:
        arrays[f"c0_{name}"] = np.full_like(arrays[f"c0_{name}"], np.nan)
    agreed = {finding.array for finding in check_metrics(arrays) if finding.standing is Standing.OK}
    assert agreed >= undefined
