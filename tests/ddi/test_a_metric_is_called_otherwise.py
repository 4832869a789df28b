"""Names that tables, claims and methods rely on: of inputs, of the answer's file, and of every metric."""

from __future__ import annotations

from itertools import product

import pytest

from harness.benchmarks.ddi import BENCHMARK
from harness.benchmarks.ddi.names import (
    DEFINED,
    INPUTS,
    KEY_METRICS,
    METRICS,
    MULTICLASS,
    MULTILABEL,
    ORDER_FREE_METRICS,
    PREDICTIONS,
    PUBLISHED,
    SETTING_NAMES,
    TYPE_ACCURACY,
    flat_name,
)

BOTH = ("F1", "accuracy", "kappa", "ROC-AUC", "PR-AUC")
BY_NAME = {metric.name: metric for metric in METRICS}


def test_every_metric_is_there_for_both_settings() -> None:
    kinds = ("as-published", "as-defined")
    names = {f"{setting} {name}/{kind}" for setting, name, kind in product(("S1", "S2"), BOTH, kinds)}
    # a metric of the paper's code that no formula of the paper defines
    published = {f"{setting} precision at half/as-published" for setting in ("S1", "S2")}
    assert len(METRICS) == len(BY_NAME) == 22 and BY_NAME.keys() == names | published
    assert kinds == (PUBLISHED, DEFINED)
    assert flat_name("S2", "kappa", DEFINED) == "S2 kappa/as-defined"


@pytest.mark.parametrize("name", BY_NAME)
def test_more_is_better_and_only_kappa_falls_below_zero(name: str) -> None:
    metric = BY_NAME[name]
    assert metric.better == "higher"
    assert metric.range == ((-1.0, 1.0) if "kappa" in name else (0.0, 1.0))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("S1 F1/as-published", "of a pair's types the lowest counts"),
        ("S1 F1/as-defined", "every item counts by its own type"),
        ("S2 accuracy/as-published", "share of items whose pair's lowest type is predicted"),
        ("S2 accuracy/as-defined", "mean over the types with both kinds of pairs"),
        ("S1 kappa/as-published", "of each pair's lowest type"),
        ("S1 kappa/as-defined", "of each item's own type"),
        ("S2 ROC-AUC/as-published", "area under the ROC curve, mean over all types"),
        ("S2 ROC-AUC/as-defined", "area under the ROC curve, mean over the types with both"),
        ("S1 PR-AUC/as-published", "average precision, mean over all types"),
        ("S1 PR-AUC/as-defined", "average precision, mean over the types with both"),
        ("S2 precision at half/as-published", "share of positives in the upper half of a type's pairs"),
    ],
)
def test_a_metric_says_what_it_measures_and_on_which_pairs(name: str, text: str) -> None:
    pairs = {"S1": "a known drug with a new one: ", "S2": "two new drugs: "}[name[:2]]
    assert BY_NAME[name].description.startswith(pairs) and text in BY_NAME[name].description


def test_what_tables_show_first_and_what_another_order_of_items_is_judged_by() -> None:
    key = ("S1 F1/as-published", "S2 F1/as-published", "S1 ROC-AUC/as-published", "S2 ROC-AUC/as-published")
    order_free = ("S1 accuracy/as-defined", "S1 ROC-AUC/as-defined")
    assert key == KEY_METRICS == tuple(BENCHMARK.key_metrics)
    assert order_free == ORDER_FREE_METRICS == tuple(BENCHMARK.order_free_metrics)
    assert {*key, *order_free} <= BY_NAME.keys()


def test_what_a_method_reads_and_writes() -> None:
    always = ("sizes", "train_pairs", "train_labels", "valid_pairs", "valid_labels", "valid_setting")
    asked = ("test_pairs", "test_setting")
    facts = ("fingerprints", "knowledge", "smiles", "drug_names", "drug_texts", "graph_texts", "type_names")
    assert (*always, *asked, *facts) == INPUTS == tuple(BENCHMARK.input_names)
    assert [(file.name, file.required) for file in BENCHMARK.answer_files] == [("predictions.npy", True)]
    assert (PREDICTIONS, TYPE_ACCURACY) == ("predictions.npy", "accuracy of type")
    assert SETTING_NAMES == {1: "S1", 2: "S2"}
    assert (BOTH[:3], ("ROC-AUC", "PR-AUC", "accuracy", "precision at half")) == (MULTICLASS, MULTILABEL)
