"""Parity: golden cases, made with the authors' code, run again here and compared array by array."""

from __future__ import annotations

from harness.parity.cases import GoldenCase, find_cases
from harness.parity.check import check_cases
from harness.parity.finding import CaseFinding

__all__ = ["CaseFinding", "GoldenCase", "check_cases", "find_cases"]
