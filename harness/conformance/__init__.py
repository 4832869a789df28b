"""The self-test of a method: what every image must do in its real container, whatever the method."""

from __future__ import annotations

from harness.conformance.checks import CHECKS, Check, CheckResult, self_test

__all__ = ["CHECKS", "Check", "CheckResult", "self_test"]
