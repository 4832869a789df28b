"""What a method tells of itself is strict JSON of the protocol's form, or refused; the kernel knows better."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.base.errors import InvalidPredictions
from harness.benchmarks.answers import check_report
from harness.benchmarks.method_report import own_measurements, read_report

# the text -> what the refusal says
BROKEN = {
    '{"protocol": 1, "cpu_seconds": NaN}': "NaN is not JSON",
    '{"protocol": 1, "losses": [1.0, -Infinity]}': "-Infinity is not JSON",
    '{"protocol": 1, "losses": [1e999]}': "1e999 is beyond all numbers",
    '{"protocol": 1, "protocol": 1}': "protocol: is there twice",
    '{"protocol": 1, "seconds": {"fit": [], "fit": [1]}}': "fit: is there twice",
    '{"protocol": true}': "speaks protocol True",
    '{"protocol": 1.0}': "speaks protocol 1.0",
    '{"protocol": "1"}': "speaks protocol '1'",
    '{"protocol": 1, "cpu_seconds": "7"}': "cpu_seconds",
    '{"protocol": 1, "cpu_seconds": true}': "cpu_seconds",
    '{"protocol": 1, "cpu_seconds": -1}': "cpu_seconds",
    '{"protocol": 1, "peak_memory_bytes": [1]}': "peak_memory_bytes",
    '{"protocol": 1, "seconds": 3}': "seconds",
    '{"protocol": 1, "seconds": {"fit": 3}}': "seconds.fit",
    '{"protocol": 1, "iterations": "many"}': "iterations",
    '{"protocol": 1, "warnings": "one"}': "warnings",
    '{"protocol": 1, "versions": {"torch": 2}}': "versions.torch",
    '{"protocol": 1, "a": ' + "1" * 5000 + "}": "has 5000 digits",
    '{"protocol": 1, "a": ' + "[" * 5000 + "]" * 5000 + "}": "is not JSON",
    '{"protocol": 1} trailing': "is not JSON",
    " " * (1 << 20) + '{"protocol": 1}': "more than 1048576 bytes",
}


def _written(folder: Path, content: str) -> Path:
    path = folder / "method.json"
    path.write_text(content)
    return path


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_report_is_refused_with_file_and_field(tmp_path: Path, text: str) -> None:
    _written(tmp_path, text)
    with pytest.raises(InvalidPredictions) as refusal:
        check_report(tmp_path)
    assert str(refusal.value).startswith("method.json: ") and BROKEN[text] in str(refusal.value)


def test_what_the_sdks_write_is_read(tmp_path: Path) -> None:
    told = {
        "protocol": 1,
        "seconds": {"fit": [0.5, 1], "predict": []},
        "cpu_seconds": 1.25,
        "peak_memory_bytes": 52428800,
        "iterations": [12, 3.0],
        "warnings": ["RuntimeWarning: überlauf"],
        "versions": {"python": "3.11"},
        "chosen": {"S1": 3},
        "losses": [0.5],
    }
    report = read_report(_written(tmp_path, json.dumps(told)))
    assert (report.iterations, report.cpu_seconds, report.seconds.fit) == ([12, 3.0], 1.25, [0.5, 1])
    assert read_report(_written(tmp_path, '{"protocol": 1, "iterations": null}')).iterations is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["protocol", "seconds", "cpu_seconds", "peak_memory_bytes", "iterations", "warnings", "versions", "other"]
)


@given(st.dictionaries(FIELDS, JSON))
def test_any_report_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]) -> None:
    path = _written(tmp_path_factory.getbasetemp(), json.dumps({"protocol": 1, **content}))
    peak, seconds, _ = own_measurements(path, wall_s=1.0, cpus=2)
    assert peak is None or 0 <= peak < 1 << 50
    assert seconds is None or (math.isfinite(seconds) and 0 <= seconds <= 3.0)


def test_what_cannot_be_true_here_is_dropped_and_said(tmp_path: Path) -> None:
    path = _written(tmp_path, '{"protocol": 1, "peak_memory_bytes": 9e17, "cpu_seconds": 9e17}')
    peak, seconds, warnings = own_measurements(path, wall_s=10.0, cpus=2)
    assert (peak, seconds) == (None, None)
    assert ["peak_memory_bytes" in warnings[0], "cpu_seconds" in warnings[1]] == [True, True]
    path = _written(tmp_path, '{"protocol": 1, "peak_memory_bytes": 1048576, "cpu_seconds": 20}')
    assert own_measurements(path, wall_s=10.0, cpus=2) == (1048576, 20.0, ())
    assert own_measurements(tmp_path / "none", wall_s=10.0, cpus=2) == (None, None, ())


def test_a_bound_is_still_within_it(tmp_path: Path) -> None:
    """Nothing used is an honest report, as are all the memory of the machine and the longest file."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for peak, seconds in ((0, 0), (1, 0.5), (memory, 21)):
        told = {"protocol": 1, "peak_memory_bytes": peak, "cpu_seconds": seconds}
        path = _written(tmp_path, json.dumps(told))
        assert own_measurements(path, wall_s=10.0, cpus=2) == (peak, seconds, ())
    path = _written(tmp_path, json.dumps({"protocol": 1, "peak_memory_bytes": memory + 1}))
    peak_memory, _, (warning,) = own_measurements(path, wall_s=10.0, cpus=2)
    assert peak_memory is None and "is more than this machine has, and was dropped" in warning
    least = '{"protocol": 1}'
    path = _written(tmp_path, least + " " * ((1 << 20) - len(least)))
    assert read_report(path).protocol == 1


def test_a_report_stays_what_was_read(tmp_path: Path) -> None:
    report = read_report(_written(tmp_path, '{"protocol": 1, "seconds": {"fit": [1]}}'))
    for part, name in ((report, "protocol"), (report.seconds, "fit")):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(part, name, 2)
