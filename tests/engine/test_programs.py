"""A served engine is told everything by us: what the machine configures for its own may not reach a container."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.engine import programs
from tests.conftest import REPOSITORY


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


def test_docker_serves_from_places_of_ours_alone(tmp_path: Path) -> None:
    service = programs.dockerd("/usr/sbin/dockerd", tmp_path / "cache", {})
    storage = tmp_path / "cache" / "engine" / "docker"
    assert (service.name, service.storage, service.folder) == ("dockerd", storage, tmp_path) and storage.is_dir()
    assert service.helper == tmp_path / "exec" / "containerd" / "containerd.pid"
    assert list(service.command) == [
        "/usr/sbin/dockerd",
        f"--config-file={tmp_path}/daemon.json",
        f"--host=unix://{tmp_path}/engine.sock",
        f"--data-root={storage}",
        f"--exec-root={tmp_path}/exec",
        f"--pidfile={tmp_path}/engine.pid",
        "--bridge=none",
        "--iptables=false",
        "--ip6tables=false",
    ]


def test_podman_serves_until_it_is_stopped(tmp_path: Path) -> None:
    service = programs.podman("/usr/bin/podman", tmp_path / "cache", {}, corrected=False)
    assert (service.name, service.storage, service.helper) == ("podman", None, None)
    command = ["/usr/bin/podman", "system", "service", "--time=0", f"unix://{tmp_path}/engine.sock"]
    assert list(service.command) == command


def test_the_two_ways_to_serve_podman_are_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def folder(name: str, *_: object) -> Path:
        asked.append(name)
        return tmp_path

    monkeypatch.setattr(programs, "service_folder", folder)
    for corrected in (False, True):
        programs.podman("/usr/bin/podman", tmp_path, {}, corrected=corrected)
    assert asked == ["podman", "podman-corrected"]


_CORRECTIONS = """
from harness.engine import programs
print(programs.podman_corrections(), end="")
"""


@pytest.mark.parametrize("has_systemd", [True, False])
@pytest.mark.parametrize("has_runc", [True, False])
def test_corrections_are_of_this_machine(tmp_path: Path, has_systemd: bool, has_runc: bool) -> None:
    """In a name space of mounts of its own, in which the folder of systemd may be made."""
    if not programs.is_root():
        pytest.skip("needs root, to hide and make folders")
    prepared = ["mount -t tmpfs none /run"] + ["mkdir -p /run/systemd/system"] * has_systemd
    if has_runc:
        (tmp_path / "runc").write_text("#!/bin/sh\n")
        (tmp_path / "runc").chmod(0o755)
        prepared.append(f"export PATH={tmp_path}:$PATH")
    elif programs.find_program("runc"):
        hidden = tmp_path / "empty"
        hidden.touch(0o644)
        prepared.append(f"mount --bind {hidden} {programs.find_program('runc')}")
    script = " && ".join([*prepared, f"exec {sys.executable} -c '{_CORRECTIONS}'"])
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "[containers]",
        'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]',
        "[engine]",
        *['runtime = "runc"'] * has_runc,
        *['cgroup_manager = "cgroupfs"'] * (not has_systemd),
    ]


def test_only_root_serves_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    for user in (0, 1, 1000):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        assert programs.is_root() is (user == 0)


def test_a_program_is_looked_for_where_the_system_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []
    monkeypatch.setattr("shutil.which", lambda name, path=None: asked.append((name, path)))
    assert programs.find_program("x") is None
    system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert asked == [("x", None), ("x", system)]


def test_programs_are_found_where_an_ordinary_path_does_not_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert programs.find_program("no-such-program") is None
    found = programs.find_program("env")
    assert found is not None and Path(found).name == "env"
    (tmp_path / "env").write_text("#!/bin/sh\n")
    (tmp_path / "env").chmod(0o755)
    assert programs.find_program("env") == str(tmp_path / "env"), "a person's own comes first"
