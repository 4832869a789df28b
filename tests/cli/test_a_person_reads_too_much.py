"""What matters comes first, and what was said is not said again."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.base.errors import UsageError
from harness.cli import group
from harness.cli.new import _ending
from harness.cli.run import _in_order


def test_a_reason_is_told_once_for_each_method() -> None:
    rows: list[dict[str, Any]] = []
    endings = []
    for method, reason in (("a", ""), ("a", "broken"), ("a", "broken"), ("a", "other"), ("b", "broken")):
        rows.append({"method": method, "passed": not reason, "reason": reason})
        endings.append(_ending(rows))
    assert endings == ["passed", "FAILED: broken", "FAILED: as above", "FAILED: other", "FAILED: broken"]


def test_metrics_that_tables_show_come_first() -> None:
    metrics = dict.fromkeys(["b", "a", "zzz", "aaa"], 0.5)
    assert [name for name, _ in _in_order(metrics, ["b", "a", "not here"])] == ["b", "a", "aaa", "zzz"]


def harness(*words: str) -> Result:
    return CliRunner().invoke(group, words, catch_exceptions=False)


def test_reference_results_are_summed_up_by_method_and_none_is_lost() -> None:
    rows = json.loads(harness("reference", "list", "--json").stdout)["rows"]
    runs = Counter(row["label"].split("/")[0] for row in rows for _ in range(sum(row["verdicts"].values())))
    lines = harness("reference", "list").stdout.splitlines()
    assert len(rows) > 500 and len(lines) < 120 and max(map(len, lines)) <= 80
    shown, benchmark = Counter[str](), ""
    for line in lines:
        benchmark = line if line in runs else benchmark
        if found := re.fullmatch(r"  [\w/]+ +\d+ +\d+ +(\d+)  .*", line):
            shown[benchmark] += int(found[1])
    assert shown == runs
    assert f"{runs.total()} runs, " in lines[-2]


def test_reference_results_of_a_method_are_shown_by_split() -> None:
    lines = harness("reference", "list", "--method", "bnnr", "--dataset", "hdvd").stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [
        "repurposing/bnnr/hdvd-random",
        "repurposing/bnnr/hdvd-weakly_correlated",
    ]
    with pytest.raises(UsageError, match="no dataset is called 'hdvt'"):
        harness("reference", "list", "--dataset", "hdvt")
