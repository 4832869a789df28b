"""Goldens of the harness itself: metrics and splits, by the functions that score and split real runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.base.layout import Layout
from harness.benchmarks.repurposing.parity import goldens
from harness.benchmarks.repurposing.parity.splits import SPLITS, check_split
from harness.parity.cases import GoldenCase
from harness.parity.finding import Finding, Standing
from harness.parity.metrics import check_metrics

METRICS = "metrics"
# a benchmark has one file of golden metrics or a folder of them
_METRICS_PREFIX, _SPLIT_PREFIX = "metrics/", "split_"

__all__ = ["METRICS", "SPLITS", "check", "covers", "subject_of"]


def covers(case: GoldenCase) -> bool:
    """Whether a case is one of metrics or splits."""
    return case.path.is_file() and (_is_of_metrics(case) or case.name.startswith(_SPLIT_PREFIX))


def subject_of(case: GoldenCase) -> str:
    """`metrics` or `splits`: what a person may name instead of a method."""
    return METRICS if _is_of_metrics(case) else SPLITS


def check(layout: Layout, case: GoldenCase, mirrors: Sequence[Path]) -> Finding:
    """Compute again what the golden holds."""
    arrays = goldens.read_case(case)
    if not _is_of_metrics(case):
        return check_split(layout, case.name, arrays, mirrors)
    found = tuple(check_metrics(case.benchmark, arrays))
    standing = Standing.OK if found else Standing.FAILED
    return Finding(case.name, METRICS, METRICS, arrays=found, standing=standing)


def _is_of_metrics(case: GoldenCase) -> bool:
    return case.name == METRICS or case.name.startswith(_METRICS_PREFIX)
