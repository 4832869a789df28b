"""Whatever a method leaves as trace or report, it is one failed comparison; the other arrays are checked."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.npy import MAGIC
from harness.execution.trials import Result, Trial
from harness.methods.card import MethodCard
from harness.parity.cases import find_cases
from harness.parity.check import check_cases
from harness.parity.finding import Standing
from tests.parity.conftest import Answers

HEADERS = [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0x" + "f" * 4000 + ",), }",
    "{'descr': 'm8[s/0]', 'fortran_order': False, 'shape': (5, 2), }",
    "{'descr': '<f7', 'fortran_order': False, 'shape': (5, 2), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (5, 2), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (5, 2), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 999999999999999999, 999999999999999999), }",
    "{'descr': 'f8,O', 'fortran_order': False, 'shape': (2,), }",
]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header[:30])
def test_a_hostile_trace_is_one_failed_array(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, header: str
) -> None:
    @contextmanager
    def run(trial: Trial) -> Iterator[Result]:
        with answers(trial) as result:
            text = header.encode()
            content = MAGIC + struct.pack("<H", len(text)) + text + bytes(80)
            (result.out / "trace" / "factors.npy").write_bytes(content)
            yield result

    (finding,) = check_cases(layout, find_cases(golden), [card], run)
    standings = {array.array: array.standing for array in finding.arrays}
    assert standings.pop("factors") is Standing.FAILED and set(standings.values()) == {Standing.OK}


@pytest.mark.parametrize("report", ["[1]", "{", '{"protocol": 1, "iterations": [[1], [2, 3]]}', "NaN"])
def test_a_hostile_report_is_one_failed_array(
    layout: Layout, golden: Path, card: MethodCard, answers: Answers, report: str
) -> None:
    @contextmanager
    def run(trial: Trial) -> Iterator[Result]:
        with answers(trial) as result:
            (result.out / "method.json").write_text(report)
            yield result

    (finding,) = check_cases(layout, find_cases(golden), [card], run)
    standings = {array.array: array.standing for array in finding.arrays}
    assert standings.pop("iterations") is Standing.FAILED and set(standings.values()) == {Standing.OK}
