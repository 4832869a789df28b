"""Crates pass the validator of their profiles and are printed by a program that reads them; neither is ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.export import Extent, Profile, export
from tests.export.crates import reference_plan
from tests.export.judges import issues, printed
from tests.fabricate import plan_of, planned_of

_PROCESS, _PROVENANCE = "process-run-crate-0.5", "provenance-run-crate-0.5"
# A workflow must be a file of its crate, by one profile, and have an absolute name, by another: the validator
# wants both, but none can have them. No other recommendation may be missed.
_OF_A_WORKFLOW = "The SoftwareApplication id SHOULD be an absolute URI"


@pytest.fixture
def stored(fabricated: Layout, tmp_path: Path) -> Path:
    """A crate of three runs that ended ok and a failed one."""
    export(fabricated, plan_of(fabricated), tmp_path / "stored")
    return tmp_path / "stored"


@pytest.fixture
def reference(layout: Layout, tmp_path: Path) -> Path:
    """A crate of reference results."""
    export(layout, reference_plan(layout), tmp_path / "reference", extent=Extent.REFERENCE)
    return tmp_path / "reference"


@pytest.mark.parametrize("kind", ["stored", pytest.param("reference", marks=pytest.mark.thorough)])
def test_a_crate_is_one_of_provenance(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    crate = request.getfixturevalue(kind)
    assert issues(crate, _PROVENANCE, "required", tmp_path) == []
    others = [text for text in issues(crate, _PROCESS, "recommended", tmp_path) if _OF_A_WORKFLOW not in text]
    assert others == []


def test_a_crate_of_processes_alone_meets_every_recommendation(
    fabricated: Layout, layout: Layout, tmp_path: Path
) -> None:
    export(fabricated, plan_of(fabricated), tmp_path / "stored", profile=Profile.PROCESS)
    plan = reference_plan(layout)
    export(layout, plan, tmp_path / "reference", profile=Profile.PROCESS, extent=Extent.REFERENCE)
    for name in ("stored", "reference"):
        assert issues(tmp_path / name, _PROCESS, "recommended", tmp_path) == []


def test_the_validator_finds_what_is_wrong(stored: Path, tmp_path: Path) -> None:
    path = stored / "ro-crate-metadata.json"
    path.write_text(path.read_text().replace('"instrument"', '"citation"'))
    assert any("MUST" in text for text in issues(stored, _PROVENANCE, "required", tmp_path))


def test_every_run_is_printed(stored: Path, fabricated: Layout) -> None:
    text = printed(stored)
    for cell in plan_of(fabricated).cells[:4]:
        assert f"action: #run-{planned_of(cell).key}" in text
    assert "17263407 <- #constant-split-seed" in text and "step: #step-als_wr" in text
