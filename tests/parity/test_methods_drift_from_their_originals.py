"""Golden cases of the folder beside the repository, in the methods' own containers.

BNNR's larger cases take minutes and are left to `harness parity bnnr`; the smaller ones cover both features.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engine import Engine
from harness.layout import Layout
from harness.methods import load_methods
from harness.parity import check_cases, find_cases
from harness.trials import InContainers


@pytest.mark.engine
@pytest.mark.parametrize("name", ["als_wr", "libmf", "lrssl", "bnnr"])
def test_a_method_equals_its_goldens(layout: Layout, engine: Engine, shared: Path, name: str) -> None:
    cases = [
        case
        for case in find_cases(shared / "golden" / "repurposing")
        if name != "bnnr" or case.name.startswith(("bnnr_HDVD_raw", "bnnr_Synthetic_bench"))
    ]
    run = InContainers(layout, engine)
    findings = list(check_cases(layout, cases, load_methods(layout), run, only=[name]))
    assert findings
    assert not [finding.as_json() for finding in findings if finding.worst.is_bad]
    assert all(array.standing == "ok" for finding in findings for array in finding.arrays)
