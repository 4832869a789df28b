"""What is said of the benchmark and of a dataset must be so: main metrics, counts, and where a fault lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from harness.base.errors import CorruptData
from harness.benchmarks.dti import BENCHMARK
from harness.benchmarks.dti.checks import checked_remarks
from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.names import METRICS
from harness.benchmarks.dti.statistics import DtiStatistics

DATASET = problems.bindings().dataset
PAIRS, VALUES = DATASET.pairs[[0, 1, 0]], DATASET.values[:3]
DRUG, TARGET = DATASET.drug_ids[PAIRS[0, 0]], DATASET.target_ids[PAIRS[0, 1]]


def test_main_metrics_are_metrics() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    assert BENCHMARK.key_metrics == ("AUROC", "AUPR", "CI", "MSE")
    assert BENCHMARK.order_free_metrics == ("AUROC", "CI")
    assert {*BENCHMARK.key_metrics, *BENCHMARK.order_free_metrics} <= set(names)
    assert {metric.name for metric in METRICS if metric.better == "lower"} == {
        "MSE",
        "one answer/drugs",
        "one answer/targets",
    }


def test_a_pair_that_is_there_twice_is_named_with_both_places() -> None:
    with pytest.raises(CorruptData) as refused:
        checked_remarks(replace(DATASET, pairs=PAIRS, values=VALUES))
    assert refused.value.what == f"the pair '{DRUG}', '{TARGET}' is there twice"
    assert refused.value.where == "dataset made-up: pairs 0 and 2"
    assert refused.value.todo == "keep one of them"


@pytest.mark.parametrize(
    ("change", "what", "where"),
    [
        ({"pairs": np.array([[-1, 0]], dtype=np.int32)}, "'pairs' holds -1, which is not in 0 to ", ": row 0"),
        ({"values": np.array([np.inf])}, "'values' has a number that is not finite", ": row 0"),
        ({"values": np.ones(2)}, "'values' has shape (2,), not (1,)", ""),
        ({"smiles": ()}, "'smiles' has not one text for each", ""),
        ({"sequences": ()}, "'sequences' has not one text for each", ""),
    ],
)
def test_a_fault_is_named_with_its_place(change: dict[str, object], what: str, where: str) -> None:
    one = replace(DATASET, pairs=DATASET.pairs[:1], values=DATASET.values[:1])
    with pytest.raises(CorruptData) as refused:
        checked_remarks(replace(one, **change))  # type: ignore[arg-type]
    assert refused.value.what.startswith(what)
    assert refused.value.where == f"dataset made-up{where}"


@pytest.mark.parametrize("lacking", ["drugs", "targets", "pairs"])
def test_one_of_each_is_a_dataset_and_none_is_not(lacking: str) -> None:
    least = {"drugs": 1, "targets": 1, "pairs": 1}
    statistics = DtiStatistics.model_validate(least)
    assert statistics.line == "    1 drugs     1 targets       1 pairs         "
    with pytest.raises(ValidationError):
        DtiStatistics.model_validate({**least, lacking: 0})


@pytest.mark.parametrize(("pairs", "size"), [(None, 0), (1, 1), (10, 16), (1000, 1600)])
def test_an_answer_takes_eight_bytes_of_a_fifth_of_the_pairs(pairs: int | None, size: int) -> None:
    assert DtiStatistics(drugs=1, targets=1, pairs=pairs).result_bytes({}) == size
