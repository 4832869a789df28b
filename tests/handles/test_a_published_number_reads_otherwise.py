"""A published number stands below ours in one line; what many of them share is said once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.compare import ClaimVerdict, Comparison
from harness.compare.claims import Claim
from harness.compare.names import Target
from harness.handles import PublishedLines, metric_lines
from harness.handles.publication import _is_about
from harness.splits.spec import parse_split
from tests.core.factories import planned_job


def claim(**changed: Any) -> Mapping[str, Any]:
    return {
        "metric": "AUC", "published": "0.8", "statistic": "mean", "published_sd": 0.01234, "ours": 0.79876,
        "n": 10, "source": "Paper 2020; Table 2", "verdict": "reproduced", "reason": "", **changed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({}, "published mean 0.8 ± 0.01234 (Table 2); our mean 0.7988 over 10: reproduced"),
        ({"published_sd": None}, "published mean 0.8 (Table 2); our mean 0.7988 over 10: reproduced"),
        ({"published_sd": None, "ours": 0.0}, "published mean 0.8 (Table 2); our mean 0 over 10: reproduced"),
        ({"published_sd": 0.0, "ours": None}, "published mean 0.8 ± 0 (Table 2): reproduced"),
        ({"ours": None}, "published mean 0.8 ± 0.01234 (Table 2): reproduced"),
        ({"source": "Table 3", "ours": None, "published_sd": None}, "published mean 0.8 (Table 3): reproduced"),
        ({"statistic": "value"}, "published 0.8: reproduced"),
        ({"statistic": "value", "verdict": "pending"}, "published 0.8: pending"),
        ({"statistic": "value", "verdict": "deviates", "reason": "x"}, "published 0.8: deviates [1]"),
        ({"statistic": "value", "verdict": "not-comparable", "reason": "x"}, "published 0.8: not-comparable [1]"),
    ],
)
def test_a_published_number_reads_so(changed: dict[str, Any], line: str) -> None:
    assert PublishedLines([claim(**changed)]).about("AUC") == [line]


def test_reasons_are_numbered_in_the_order_in_which_they_are_told() -> None:
    one, two = ({"statistic": "value", "verdict": "deviates", "reason": text} for text in ("one", "two"))
    published = PublishedLines([claim(metric="B", **two), claim(**one), claim(**two), claim(**one)])
    assert [line[-3:] for line in published.about("AUC")] == ["[1]", "[2]", "[1]"]
    assert published.about("B")[0][-3:] == "[2]" and published.reasons == ["[1] one", "[2] two"]


def test_no_metrics_have_no_lines_and_many_that_are_undefined_have_full_ones() -> None:
    assert [*metric_lines([], {}, PublishedLines([]))] == []
    assert [*metric_lines([("A", 1e-9)], {}, PublishedLines([]))] == ["  A  1e-09"]
    # of many that are undefined every line holds all that 100 signs have room for
    names = [f"metric-{number:02}" for number in range(40)]
    lines = [*metric_lines([(name, None) for name in names], dict.fromkeys(names, "no pair"), PublishedLines([]))]
    words = f"undefined, no pair: {', '.join(names)}".split(" ")
    assert " ".join(lines).split() == words and max(map(len, lines)) <= 100
    first = [line.split()[0] for line in lines[1:]]
    assert all(len(line) + 1 + len(word) > 100 for line, word in zip(lines, first, strict=False))


@pytest.mark.parametrize(
    ("changed", "is_shown"),
    [
        ({}, True),
        ({"statistic": "value", "seed": 1}, True),
        ({"statistic": "value", "seed": 2}, False),
        ({"statistic": "value", "seed": 0}, False),
        # a mean that is printed without its number of runs
        ({"statistic": "band"}, True),
        ({"statistic": "status"}, False),
        ({"statistic": "cost"}, False),
        ({"metric": None}, False),
        # a name that stands for many splits
        ({"split": "random:test_share=*"}, False),
        ({"split": None}, False),
        ({"method": "bnnr"}, False),
        ({"dataset": "fdataset"}, False),
        ({"variant": "published"}, True),
        ({"variant": "control"}, False),
    ],
)
def test_a_run_is_shown_what_is_about_it(changed: dict[str, Any], is_shown: bool) -> None:
    own = {"method": "constant", "dataset": "synthetic", "split": "random", "variant": "", **changed}
    target = Target(own["method"], own["dataset"], own["split"], own["variant"])
    told = Claim("Table 2", own.get("statistic", "mean"), "m", "d", "s", "AUC", "0.8", seed=own.get("seed"))
    comparison = Comparison(told, target, own.get("metric", "AUC"), ClaimVerdict.PENDING, "")
    assert _is_about(comparison, planned_job(1), "published") is is_shown


@pytest.mark.parametrize(
    ("pattern", "is_shown"),
    [
        ("new_pairs:rank=*,space=*", False),
        ("new_pairs:rank=*,reading=*,space=*", True),
        ("new_pairs:rank=0,reading=corrected,space=TEO", True),
        ("new_pairs:rank=1,reading=corrected,space=*", False),
        ("other_pairs:rank=*,reading=*,space=*", False),
    ],
)
def test_a_name_of_many_splits_stands_for_those_with_its_parameters_alone(pattern: str, is_shown: bool) -> None:
    """Another reading of a task is another task, and what is printed of one is not of the other."""
    planned = planned_job(1)
    split = parse_split("new_pairs:rank=0,reading=corrected,space=TEO", 1)
    planned = planned.model_copy(update={"job": planned.job.model_copy(update={"split": split})})
    target = Target("constant", "synthetic", pattern, "")
    claim = Claim("Table 2", "mean", "m", "d", "s", "AUC", "0.8")
    comparison = Comparison(claim, target, "AUC", ClaimVerdict.PENDING, "")
    assert _is_about(comparison, planned, "published") is is_shown
