"""The published metrics must be the original code's to 1e-12, and a golden that says otherwise must be told."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from harness import benchmarks
from harness.base.layout import Layout
from harness.execution.trials import on_demand
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing

GOLDEN = Path(__file__).parent.parent / "golden" / "ddi"
CASES = sorted(path.stem for path in (GOLDEN / "metrics").glob("*.npz"))


def _checked(layout: Layout, golden: Path) -> dict[str, CaseFinding]:
    with on_demand(layout) as run:
        found = check_cases(layout, find_cases(golden), [], run, only=["metrics"])
        return {finding.case: finding for finding in found}


def test_metrics_of_the_original_code(layout: Layout) -> None:
    findings = _checked(layout, GOLDEN)
    assert set(findings) == {f"metrics/{case}" for case in CASES}
    for finding in findings.values():
        assert len(finding.arrays) == 3
        assert [array.standing for array in finding.arrays] == [Standing.OK] * 3
        assert all(array.error is not None and array.error <= 1e-12 for array in finding.arrays)


@pytest.mark.parametrize(("case", "name"), [("drugbank_08", "out/kappa"), ("twosides_00", "out/pr_auc")])
@pytest.mark.parametrize("fault", ["off", "absent"])
def test_a_golden_that_differs_is_told(layout: Layout, tmp_path: Path, case: str, name: str, fault: str) -> None:
    folder = tmp_path / "ddi" / "metrics"
    folder.mkdir(parents=True)
    with np.load(GOLDEN / "metrics" / f"{case}.npz") as golden:
        arrays = dict(golden)
    changed = {name: arrays.pop(name) + 1e-9} if fault == "off" else arrays.pop(name) and {}
    np.savez(folder / f"{case}.npz", allow_pickle=False, **arrays, **changed)
    (finding,) = _checked(layout, tmp_path / "ddi").values()
    standings = {array.array: array.standing for array in finding.arrays}
    expected = Standing.BEYOND if fault == "off" else Standing.ABSENT
    assert standings[name.removeprefix("out/")] is expected
    assert sum(standing is Standing.OK for standing in standings.values()) == 2


def test_a_golden_without_logits_is_told(layout: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "ddi" / "metrics"
    folder.mkdir(parents=True)
    np.savez(folder / "drugbank_00.npz", x=np.zeros(1))
    shutil.copy(GOLDEN / "metrics" / "twosides_00.npz", folder)
    findings = _checked(layout, tmp_path / "ddi")
    assert findings["metrics/drugbank_00"].worst is Standing.FAILED
    assert findings["metrics/twosides_00"].worst is Standing.OK


@pytest.mark.parametrize("name", benchmarks.names())
def test_every_benchmark_can_check_its_golden_metrics(name: str) -> None:
    part = benchmarks.part(name, "parity.metrics")
    assert part is not None
    assert hasattr(part, "check_file") or list(part.check_metrics({})) or name == "repurposing"


def test_golden_metrics_of_a_form_that_nobody_compares_are_named(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "combos").mkdir()
    np.savez(tmp_path / "combos" / "metrics.npz", x=np.zeros(1))
    finding = _checked(layout, tmp_path / "combos")["metrics"]
    assert finding.worst is Standing.NOT_IMPLEMENTED
    assert finding.note == "benchmark combos compares no golden metrics"
