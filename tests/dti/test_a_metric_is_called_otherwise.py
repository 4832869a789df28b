"""Names that tables, claims and methods rely on: of inputs, of the answer's file, and of every metric."""

from __future__ import annotations

import pytest

from harness.benchmarks import in_order, names
from harness.benchmarks.dti import BENCHMARK
from harness.benchmarks.dti.names import (
    AFFINITY,
    BINDING,
    DEPTHS,
    FACTS,
    INPUTS,
    KEY_METRICS,
    MAP_READINGS,
    METRICS,
    ORDER_FREE_METRICS,
    RANKING,
    SCORES,
    WITHIN,
)

BY_NAME = {metric.name: metric for metric in METRICS}
DEPTH = (10, 20, 50, 100)


def _names(metrics: tuple[object, ...]) -> list[str]:
    return [name for name, metric in BY_NAME.items() if metric in metrics]


def test_every_metric_is_there() -> None:
    whole = ["AUROC", "AUPR", "AUPR/trapezoid", "precision", "recall", "F1", "best F1"]
    assert _names(BINDING) == [*whole, "general score", "general score/best F1"]
    assert _names(WITHIN) == ["AUROC/drugs", "one answer/drugs", "AUROC/targets", "one answer/targets"]
    at = [f"{name}@{depth}" for depth in DEPTH for name in ("precision", "recall", "F1")]
    assert _names(RANKING) == [*at, *(f"MAP@{depth}/{way}" for depth in DEPTH for way in ("min", "all", "hits"))]
    assert _names(AFFINITY) == ["MSE", "CI"]
    assert len(METRICS) == len(BY_NAME) == 39 and (DEPTHS, MAP_READINGS) == (DEPTH, ("min", "all", "hits"))


@pytest.mark.parametrize("name", BY_NAME)
def test_less_is_better_only_of_errors_and_of_drugs_with_one_answer(name: str) -> None:
    lower = {"MSE", "one answer/drugs", "one answer/targets"}
    assert BY_NAME[name].better == ("lower" if name in lower else "higher")
    # an error is as large as it is
    assert BY_NAME[name].range == (None if name == "MSE" else (0.0, 1.0))


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("AUROC", ("ROC curve of all test pairs",)),
        ("AUPR", ("average precision of all",)),
        ("AUPR/trapezoid", ("by trapezoids",)),
        ("precision", ("scored 0.5 or more", "share that binds")),
        ("recall", ("of the pairs that bind", "scored 0.5 or more")),
        ("F1", ("at 0.5",)),
        ("best F1", ("highest F1 of any threshold",)),
        ("general score", ("AUROC, AUPR and F1 at 0.5",)),
        ("general score/best F1", ("AUROC, AUPR and best F1",)),
        ("AUROC/drugs", ("of one of the drugs asked with bindings and negatives",)),
        ("one answer/targets", ("share of targets asked", "all 0.5 or more, or all less")),
        ("precision@20", ("share that binds among a drug's 20 best targets",)),
        ("recall@50", ("share of its bindings found among a drug's 50 best",)),
        ("F1@100", ("harmonic mean of both among a drug's 100 best",)),
        ("MAP@10/min", ("a drug's 10 best targets", "the least of k and its bindings")),
        ("MAP@10/all", ("divided by its bindings",)),
        ("MAP@10/hits", ("divided by the bindings among them",)),
        ("MSE", ("mean squared error",)),
        ("CI", ("unequal affinity", "ties count one half")),
    ],
)
def test_a_metric_says_what_it_measures(name: str, texts: tuple[str, ...]) -> None:
    assert all(text in BY_NAME[name].description for text in texts)


def test_what_tables_show_first_and_what_another_order_of_items_is_judged_by() -> None:
    assert tuple(BENCHMARK.key_metrics) == KEY_METRICS == ("AUROC", "AUPR", "CI", "MSE")
    assert tuple(BENCHMARK.order_free_metrics) == ORDER_FREE_METRICS == ("AUROC", "CI")


def test_people_are_shown_this_benchmark_behind_the_first_two() -> None:
    assert in_order(reversed(names())) == ["repurposing", "ddi", "dti", "combos"]


def test_what_a_method_reads_and_writes() -> None:
    facts = ("smiles", "sequences", "edges", "relation_names", "drug_similarity", "target_similarity")
    assert facts == FACTS
    assert ("sizes", "train_pairs", "train_values", "test_pairs", *facts) == INPUTS == tuple(BENCHMARK.input_names)
    assert [(file.name, file.required) for file in BENCHMARK.answer_files] == [("scores.npy", True)]
    assert SCORES == "scores.npy"
