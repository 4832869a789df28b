"""Runs: one hardened container each, with a verdict decided from several signs."""

from __future__ import annotations

from harness.base.errors import InvalidPredictions
from harness.execution.runs.classify import Signs, Stop, classify
from harness.execution.runs.execute import execute
from harness.execution.runs.outcome import Attempt, Outcome
from harness.execution.runs.request import INIT, REPORT_ALONE, Limits, Mount, RunRequest, answer_files

__all__ = [
    "INIT",
    "REPORT_ALONE",
    "Attempt",
    "InvalidPredictions",
    "Limits",
    "Mount",
    "Outcome",
    "RunRequest",
    "Signs",
    "Stop",
    "answer_files",
    "classify",
    "execute",
]
