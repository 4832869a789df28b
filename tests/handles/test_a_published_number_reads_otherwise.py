"""A published number stands below ours in one line; what many of them share is said once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.handles import PublishedLines, metric_lines


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


def test_no_metrics_have_no_lines() -> None:
    assert [*metric_lines([], {}, PublishedLines([]))] == []
    assert [*metric_lines([("A", 1e-9)], {}, PublishedLines([]))] == ["  A  1e-09"]
