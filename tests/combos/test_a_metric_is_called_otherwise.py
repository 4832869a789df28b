"""Names that tables, claims and methods rely on: of inputs, of the answer's file, and of every metric."""

from __future__ import annotations

from itertools import product

import pytest

from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.names import (
    ANSWER,
    BUCKETS,
    INPUTS,
    KEY_METRICS,
    METRICS,
    ORDER_FREE_METRICS,
    RULES,
    TEXTS,
    flat_name,
)

BY_NAME = {metric.name: metric for metric in METRICS}
WAYS = ("exact positive", "partial positive", "exact any", "partial any")
PARTS = ("two drugs", "more drugs", "unseen combinations", "seen combinations", "sentences", "contexts")


def test_every_metric_is_there() -> None:
    kinds = ("as-published", "as-defined")
    whole = {f"{way} {name}/{kind}" for way, name, kind in product(WAYS, ("F1", "precision", "recall"), kinds)}
    of_parts = {
        f"{way} {name} of {part}/as-published" for way, name, part in product(WAYS, ("precision", "recall"), PARTS)
    }
    assert BY_NAME.keys() == whole | of_parts and len(METRICS) == len(BY_NAME) == 72
    assert (
        flat_name("exact any", "recall", "as-published", "contexts") == "exact any recall of contexts/as-published"
    )


@pytest.mark.parametrize("name", BY_NAME)
def test_more_is_better_and_nothing_exceeds_one(name: str) -> None:
    assert (BY_NAME[name].better, BY_NAME[name].range) == ("higher", (0.0, 1.0))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "exact positive F1/as-published",
            "harmonic mean of precision and recall of positive combinations; each with its best match",
        ),
        (
            "partial positive precision/as-defined",
            "share of predicted positive combinations, parts counting as parts that are true; matched one to one",
        ),
        ("exact any recall/as-defined", "share of true combinations that are found; matched one to one"),
        ("exact any recall of two drugs/as-published", "share of true combinations that are found, of two drugs"),
        ("exact any recall of more drugs/as-published", "of three or more drugs"),
        ("exact any recall of unseen combinations/as-published", "of drugs that no training document combines"),
        ("exact any recall of seen combinations/as-published", "of drugs that a training document combines"),
        ("exact any recall of sentences/as-published", "in documents where no relation needs the context"),
        ("exact any recall of contexts/as-published", "in documents where all relations need the context"),
    ],
)
def test_a_metric_says_what_it_measures(name: str, text: str) -> None:
    assert BY_NAME[name].description.endswith(text)


def test_a_rule_says_what_matches_and_what_is_looked_at() -> None:
    assert {way: ("exact" in way, "positive" in way) for way in WAYS} == RULES
    assert [*BUCKETS.items()] == [("arity", PARTS[:2]), ("seen", PARTS[2:4]), ("context", PARTS[4:])]


def test_what_tables_show_first_and_what_another_order_of_items_is_judged_by() -> None:
    assert tuple(BENCHMARK.key_metrics) == KEY_METRICS == tuple(f"{way} F1/as-published" for way in WAYS)
    assert tuple(BENCHMARK.order_free_metrics) == ORDER_FREE_METRICS
    assert tuple(f"{way} F1/as-defined" for way in WAYS) == ORDER_FREE_METRICS


def test_what_a_method_reads_and_writes() -> None:
    always = ("sentences", "spans", "relations", "relation_spans", "train", "asked")
    assert (*always, "paragraphs", "span_texts") == INPUTS == tuple(BENCHMARK.input_names)
    assert TEXTS == ("paragraphs", "span_texts")
    assert [(file.name, file.required) for file in BENCHMARK.answer_files] == [("combinations.jsonl", True)]
    assert ANSWER == "combinations.jsonl"
