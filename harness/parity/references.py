"""Goldens of the harness itself: metrics and splits, by the functions that score and split real runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.layout import Layout
from harness.parity import goldens
from harness.parity.cases import GoldenCase
from harness.parity.finding import Finding, Standing
from harness.parity.metrics import check_metrics
from harness.parity.splits import SPLITS, check_split

METRICS = "metrics"
_SPLIT_PREFIX = "split_"

__all__ = ["METRICS", "SPLITS", "check", "covers", "subject_of"]


def covers(case: GoldenCase) -> bool:
    """Whether a case is one of metrics or splits."""
    return case.path.is_file() and (case.name == METRICS or case.name.startswith(_SPLIT_PREFIX))


def subject_of(case: GoldenCase) -> str:
    """`metrics` or `splits`: what a person may name instead of a method."""
    return METRICS if case.name == METRICS else SPLITS


def check(layout: Layout, case: GoldenCase, mirrors: Sequence[Path]) -> Finding:
    """Compute again what the golden holds."""
    arrays = goldens.read_case(case)
    if case.name != METRICS:
        return check_split(layout, case.name, arrays, mirrors)
    found = tuple(check_metrics(arrays))
    standing = Standing.OK if found else Standing.FAILED
    return Finding(case.name, METRICS, METRICS, arrays=found, standing=standing)
