"""A package's script in a build container may not run for ever, fill machine or disk, or keep rights."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import ImageError
from harness.engine import Engine
from harness.images import Supply, builder, context, ensure_environment
from harness.images.build import record_environment
from harness.images.builder import RECIPE, build
from harness.images.export import copy_files
from harness.images.identity import environment_image_name
from harness.images.limits import LIMITS, BuildLimits, run_watched
from tests.images.making import EPOCH, Workbench

OFFLINE = Supply(network=False)


def _watch(folder: Path, script: str, limits: BuildLimits) -> tuple[int, str, str]:
    ended = run_watched(["/bin/sh", "-c", script], folder, dict(os.environ), limits, folder)
    return ended.code, ended.output, ended.stop_reason


def test_a_build_that_ends_is_reported_as_it_ended(tmp_path: Path) -> None:
    assert _watch(tmp_path, "echo out; echo err >&2; exit 7", LIMITS) == (7, "out\nerr\n", "")


def test_a_build_that_never_ends_is_ended_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path}/child; wait"
    code, _, stopped = _watch(tmp_path, script, replace(LIMITS, seconds=1.0))
    assert code != 0
    assert stopped == "it took more than 1 s"
    child = Path("/proc", (tmp_path / "child").read_text().strip(), "stat")
    deadline = time.monotonic() + 10
    while child.exists() and child.read_text().split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.exists() or child.read_text().split()[2] == "Z"


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (replace(LIMITS, free_disk_bytes=1 << 62), "of disk stayed free at "),
        (replace(LIMITS, free_memory_bytes=1 << 62), "of the machine's memory stayed free"),
        (replace(LIMITS, output_bytes=1 << 20), "it said more than 1 MiB"),
    ],
)
def test_a_build_that_takes_too_much_is_ended(tmp_path: Path, limits: BuildLimits, why: str) -> None:
    code, said, stopped = _watch(tmp_path, "yes", limits)
    assert code != 0
    assert why in stopped
    assert len(said) <= limits.output_bytes


def test_the_disk_that_is_watched_is_the_engines(tmp_path: Path) -> None:
    """The builder's client lies on another one, which has room."""
    ended = run_watched(["/bin/sleep", "600"], tmp_path, {}, replace(LIMITS, seconds=5.0), Path("/proc"))
    assert ended.stop_reason == f"less than {LIMITS.free_disk_bytes >> 20} MiB of disk stayed free at /proc"


def test_a_disk_that_is_not_on_this_machine_ends_no_build(tmp_path: Path) -> None:
    ended = run_watched(["/bin/true"], tmp_path, {}, LIMITS, tmp_path / "elsewhere")
    assert (ended.code, ended.stop_reason) == (0, "")


def _engine(name: str, *, memory: bool = True) -> Any:
    told = {"DockerRootDir": "/", "MemoryLimit": memory}
    return SimpleNamespace(name=name, socket=Path("/nowhere"), client=SimpleNamespace(info=lambda: told))


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_builder_that_hangs_lets_the_lock_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path / "docker", "echo stuck here; sleep 600")
    monkeypatch.setattr(builder, "docker_with_buildkit", lambda: str(tmp_path / "docker"))
    monkeypatch.setattr(builder, "LIMITS", replace(LIMITS, seconds=1.0))
    with pytest.raises(ImageError, match=r"stopped: it took more than 1 s\):\nstuck here"):
        build(_engine("docker"), tmp_path, target="base", arguments={}, labels={}, epoch=EPOCH)


@pytest.mark.parametrize("memory", [True, False])
def test_podman_is_told_every_limit_that_it_can_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: bool
) -> None:
    _program(tmp_path / "podman", f'echo "$@" > {tmp_path}/asked; exit 1')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ImageError, match="exit 1"):
        build(_engine("podman", memory=memory), tmp_path, target="base", arguments={}, labels={}, epoch=EPOCH)
    asked = (tmp_path / "asked").read_text()
    assert "--cap-drop ALL" in asked
    assert f"--ulimit fsize={LIMITS.file_bytes}:{LIMITS.file_bytes}" in asked
    assert (f"--memory {LIMITS.memory_bytes} --memory-swap {LIMITS.memory_bytes}" in asked) is memory


def test_the_recipe_counts_as_ulimit_does() -> None:
    assert BuildLimits(step_seconds=60, memory_bytes=1 << 20, file_bytes=1 << 20).text == "60 1024 2048\n"


def _toy(bench: Workbench, script: str) -> None:
    bench.debian("toy", {"./opt/": b"", "./opt/seen/": b""}, after=f"#!/bin/sh\nset -e\n{script}\n")


@pytest.mark.engine
def test_a_script_of_a_package_has_few_rights(any_engine: Engine, bench: Workbench, tmp_path: Path) -> None:
    _toy(bench, "cat /proc/self/status > /opt/seen/status; cat /proc/self/limits > /opt/seen/limits")
    record = record_environment(any_engine, bench.layout, "toy", supply=OFFLINE)
    image = environment_image_name("toy", record.tree)
    copied = copy_files(any_engine, image, "opt/seen", tmp_path)
    any_engine.client.images.remove(image, force=True)
    seen = {path.name: path.read_text() for path in copied}
    fields = dict(line.split(":\t", 1) for line in seen["status"].splitlines() if ":\t" in line)
    assert (fields["CapEff"], fields["CapBnd"]) == ("000000000000001b", "000000000000001b")
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
    limits = {line[:26].strip(): line[26:].split()[:2] for line in seen["limits"].splitlines()}
    assert limits["Max address space"] == [str(LIMITS.memory_bytes)] * 2
    assert limits["Max file size"] == [str(LIMITS.file_bytes)] * 2
    assert limits["Max core file size"] == ["0", "0"]


@pytest.mark.engine
@pytest.mark.parametrize(
    ("script", "small", "said"),
    [
        ("sleep 600", {"step_seconds": 3}, "sending signal TERM"),
        ("perl -e '$x = \"a\" x (1 << 30)'", {"memory_bytes": 256 << 20}, "Out of memory"),
        (
            "head -c 40000000 /dev/zero > /opt/seen/large",
            {"file_bytes": 32 << 20},
            "File size limit|File too large",
        ),
    ],
)
def test_a_script_that_takes_too_much_stops_the_build(
    any_engine: Engine,
    bench: Workbench,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    small: dict[str, int],
    said: str,
) -> None:
    monkeypatch.setattr(context, "LIMITS", replace(LIMITS, **small))
    _toy(bench, script)
    started = time.monotonic()
    with pytest.raises(ImageError, match=said):
        record_environment(any_engine, bench.layout, "toy", supply=OFFLINE)
    assert time.monotonic() - started < 300


@pytest.mark.engine
def test_podman_takes_rights_away_before_anything_of_an_image_runs(
    podman_engine: Engine, bench: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "context").mkdir()
    base = ensure_environment(podman_engine, bench.layout, "_base")
    (tmp_path / "context" / RECIPE).write_text(
        f"FROM {base.name} AS probe\nUSER 0:0\nRUN mkdir /seen && cat /proc/self/status > /seen/status\n"
    )
    image = build(podman_engine, tmp_path / "context", target="probe", arguments={}, labels={}, epoch=EPOCH)
    (status,) = copy_files(podman_engine, image, "seen", tmp_path)
    podman_engine.client.images.remove(image, force=True)
    assert "CapBnd:\t000000000000011b" in status.read_text()
