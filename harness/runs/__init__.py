"""Runs: one hardened container each, with a verdict decided from several signs."""

from __future__ import annotations

from harness.errors import InvalidPredictions
from harness.runs.classify import Signs, Stop, classify
from harness.runs.execute import execute
from harness.runs.outcome import Attempt, Outcome
from harness.runs.request import INIT, Limits, Mount, RunRequest

__all__ = [
    "INIT",
    "Attempt",
    "InvalidPredictions",
    "Limits",
    "Mount",
    "Outcome",
    "RunRequest",
    "Signs",
    "Stop",
    "classify",
    "execute",
]
