"""A served engine is told everything by us: what the machine configures for its own may not reach a container."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.engine import programs


@pytest.fixture(autouse=True)
def _short_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(programs, "service_folder", lambda name, cache, environment: tmp_path)


def _configuration(tmp_path: Path) -> object:
    service = programs.dockerd("/usr/sbin/dockerd", tmp_path / "cache", {})
    (option,) = [word for word in service.command if word.startswith("--config-file=")]
    path = Path(option.partition("=")[2])
    assert path.parent == tmp_path
    return json.loads(path.read_text())


def test_docker_reads_a_file_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find_program", lambda name: None)
    assert _configuration(tmp_path) == {}


def test_docker_is_told_the_way_to_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find_program", lambda name: f"/usr/bin/{name}")
    expected = {"runtimes": {"nvidia": {"path": "/usr/bin/nvidia-container-runtime"}}}
    assert _configuration(tmp_path) == expected


@pytest.mark.parametrize("corrected", [True, False])
def test_podman_reads_a_file_of_ours(tmp_path: Path, corrected: bool) -> None:
    service = programs.podman("/usr/bin/podman", tmp_path / "cache", {}, corrected=corrected)
    path = Path(service.environment["CONTAINERS_CONF"])
    assert path.parent == tmp_path
    assert bool(path.read_text()) is corrected
