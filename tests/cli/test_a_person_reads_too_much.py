"""What matters comes first, and what was said is not said again."""

from __future__ import annotations

from typing import Any

from harness.cli.new import _ending
from harness.cli.run import _in_order
from harness.status.table import key_metrics


def test_a_reason_is_told_once_for_each_method() -> None:
    rows: list[dict[str, Any]] = []
    endings = []
    for method, reason in (("a", ""), ("a", "broken"), ("a", "broken"), ("a", "other"), ("b", "broken")):
        rows.append({"method": method, "passed": not reason, "reason": reason})
        endings.append(_ending(rows))
    assert endings == ["passed", "FAILED: broken", "FAILED: the same", "FAILED: other", "FAILED: broken"]


def test_metrics_that_tables_show_come_first() -> None:
    shown = key_metrics("repurposing")
    metrics = dict.fromkeys(sorted(["zzz", "aaa", *shown]), 0.5)
    assert [name for name, _ in _in_order("repurposing", metrics)] == [*shown, "aaa", "zzz"]
