"""The examination tells an unusable machine from one that only lacks something."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.layout import Layout
from harness.cli import group
from harness.engine import Engine
from harness.upkeep import doctor
from harness.upkeep.doctor import Examination, State, examine


def test_no_engine_is_exit_code_3_and_the_rest_is_still_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
    result = CliRunner().invoke(group, ["doctor", "--json"], standalone_mode=False)
    assert result.return_value == 3, result.output
    told = json.loads(result.stdout)
    states = {check["name"]: check["state"] for check in told["checks"]}
    assert told["ready"] is False and states["engine"] == "fail"
    assert {"disk for results", "memory", "gpu", "data synthetic", "leftovers"} <= set(states)


def test_what_the_operating_system_refuses_is_a_finding_of_the_check_that_met_it(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system", "/home/of/nobody")

    monkeypatch.setattr(doctor, "find_engine", refuse)
    monkeypatch.setattr(doctor, "_gpu", refuse)
    checks = {check.name: check for check in examine(layout)}
    said = "the operating system says: Read-only file system (/home/of/nobody)"
    for name in ("engine", "gpu"):
        check = checks[name]
        assert (check.state, check.detail) == (State.FAIL, said) and check.todo
    assert "leftovers" in checks


def test_a_place_where_nothing_can_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, int]] = []

    def access(place: Path, mode: int) -> bool:
        asked.append((place, mode))
        return False

    monkeypatch.setattr(os, "access", access)
    room = doctor._room("disk", tmp_path / "not" / "yet", 0)
    assert asked == [(tmp_path, os.W_OK)]
    assert (room.state, room.detail) == (State.FAIL, f"nothing can be written to {tmp_path}")
    assert room.todo == "move it ($PERMAFROST_CACHE, $PERMAFROST_RESULTS)"


@pytest.mark.engine
def test_a_usable_engine_passes_its_control_run(
    engine: Engine, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", engine.address)
    states = {check.name: check for check in examine(layout)}
    assert states["engine"].state is not State.FAIL
    assert states["control run"].state is State.OK, states["control run"].detail


def test_everything_that_is_not_well_says_what_to_do(layout: Layout, tmp_path: Path) -> None:
    room = doctor._room("disk", tmp_path / "not" / "yet", 1 << 60)
    assert room.state is not State.OK and room.todo
    assert doctor._room("disk", tmp_path, 1).state in (State.OK, State.FAIL)


def test_a_missing_gpu_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_gpus", lambda: [])
    assert doctor._gpu(None).state is State.OK


def test_only_the_engines_own_failures_stop_everything() -> None:
    assert (
        Examination("engine", State.FAIL, "").of_engine
        and not Examination("disk for results", State.FAIL, "").of_engine
    )
