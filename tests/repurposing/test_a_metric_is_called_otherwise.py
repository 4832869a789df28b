"""Names that tables, claims and methods rely on: of inputs, of the answer's files, and of every metric."""

from __future__ import annotations

import pytest

from harness.benchmarks.repurposing import BENCHMARK
from harness.benchmarks.repurposing.names import (
    HIT_RATES,
    INPUTS,
    KEY_METRICS,
    METRICS,
    ORDER_FREE_METRICS,
    flat_name,
    metric_names,
)

BY_NAME = {metric.name: metric for metric in METRICS}
DEFINED = ("NS-AUC", "AUC", "disease-wise AUC", "drug-wise AUC", "NDCG", "global NDCG", "accuracy")
PUBLISHED = (*DEFINED, "F-score", "HR@2", "HR@5", "HR@10")


def test_every_metric_is_there() -> None:
    assert metric_names("as-published") == [*PUBLISHED] and metric_names("as-defined") == [*DEFINED]
    names = {f"{name}/as-published" for name in PUBLISHED} | {f"{name}/as-defined" for name in DEFINED}
    assert BY_NAME.keys() == names and len(METRICS) == len(BY_NAME) == 18
    assert HIT_RATES == (2, 5, 10) and flat_name("AUC", "as-defined") == "AUC/as-defined"


@pytest.mark.parametrize("name", BY_NAME)
def test_more_is_better_and_gains_alone_have_no_bounds(name: str) -> None:
    assert BY_NAME[name].better == "higher"
    assert BY_NAME[name].range == (None if "NDCG" in name else (0.0, 1.0))


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("NS-AUC/as-published", ("pairs of one drug's test diseases", "mean over drugs")),
        ("NS-AUC/as-defined", ("pairs of one disease's test drugs", "mean over diseases")),
        ("AUC/as-published", ("over all pairs", "as unknown, with score 0")),
        ("AUC/as-defined", ("over the test pairs",)),
        ("disease-wise AUC/as-published", ("cut to -1 and +1", "mean over diseases")),
        ("disease-wise AUC/as-defined", ("ROC curve for one disease's test drugs; mean over diseases",)),
        ("drug-wise AUC/as-published", ("cut to -1 and +1", "mean over drugs")),
        ("drug-wise AUC/as-defined", ("ROC curve for one drug's test diseases; mean over drugs",)),
        ("NDCG/as-published", ("cut to -1 and +1", "ties as numpy 1.23 leaves them")),
        ("NDCG/as-defined", ("best-ranked test drugs, as many as it has positives",)),
        ("global NDCG/as-published", ("all pairs in one ranking",)),
        ("global NDCG/as-defined", ("best-ranked test pairs",)),
        ("accuracy/as-published", ("on the right side of 0",)),
        ("accuracy/as-defined", ("a score of 0 is wrong",)),
        ("F-score/as-published", ("F1 of scores cut to -1 and +1",)),
        ("HR@2/as-published", ("among the 2 best-ranked of all pairs",)),
        ("HR@10/as-published", ("among the 10 best-ranked of all pairs",)),
    ],
)
def test_a_metric_says_what_it_measures(name: str, texts: tuple[str, ...]) -> None:
    assert all(text in BY_NAME[name].description for text in texts)


def test_what_tables_show_first_and_what_another_order_of_items_is_judged_by() -> None:
    key = ("NS-AUC/as-published", "AUC/as-published", "NDCG/as-published")
    assert tuple(BENCHMARK.key_metrics) == KEY_METRICS == key
    assert tuple(BENCHMARK.order_free_metrics) == ORDER_FREE_METRICS == ("NS-AUC/as-defined", "AUC/as-defined")


def test_what_a_method_reads_and_writes() -> None:
    features = ("drug_features", "disease_features", "drug_standardised", "disease_standardised")
    views = ("drug_similarity", "disease_similarity", "drug_views")
    assert ("associations", "folds", *features, *views) == INPUTS == tuple(BENCHMARK.input_names)
    files = {file.name: file.required for file in BENCHMARK.answer_files}
    # only inner models answer for pairs that train
    assert files == {"predictions.npy": True, "validation.npy": False, "lowest.npy": True}
