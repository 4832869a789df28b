"""Runs: one hardened container each, with a verdict decided from several signs."""

from __future__ import annotations

from harness.execution.runs.execute import execute
from harness.execution.runs.outcome import Outcome
from harness.execution.runs.request import INIT, REPORT_ALONE, Limits, Mount, RunRequest, answer_files

__all__ = ["INIT", "REPORT_ALONE", "Limits", "Mount", "Outcome", "RunRequest", "answer_files", "execute"]
