"""What the builder's client is told, word for word: network, limits, labels, settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import ImageError
from harness.images import builder, limits
from harness.images.limits import LIMITS, BuilderResult, BuildLimits, run_watched

PODMAN_OPTIONS = [
    "--cap-drop",
    "ALL",
    "--cap-add",
    "CHOWN",
    "--cap-add",
    "DAC_OVERRIDE",
    "--cap-add",
    "FOWNER",
    "--cap-add",
    "FSETID",
    "--cap-add",
    "SETPCAP",
    "--ulimit",
    "fsize=8589934592:8589934592",
    "--ulimit",
    "core=0:0",
    "--ulimit",
    "nofile=4096:4096",
    "--ulimit",
    "nproc=4096:4096",
]
MEMORY_OPTIONS = ["--memory", "8589934592", "--memory-swap", "8589934592"]


class Client:
    """A builder's client that notes what it is told, and ends as it is told here."""

    def __init__(self, result: BuilderResult) -> None:
        self.result = result
        self.command: list[str] = []
        self.about: tuple[object, ...] = ()
        self.environment: dict[str, str] = {}

    def __call__(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        bounds: BuildLimits,
        disk: Path,
    ) -> BuilderResult:
        self.command, self.environment = list(command), dict(environment)
        self.about = (folder, bounds, disk)
        place = self.command.index("--iidfile") + 1
        Path(self.command[place]).write_text("sha256:made\n")
        self.command[place] = "ID"
        return self.result


def built(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    name: str,
    *,
    result: BuilderResult | None = None,
    info: Mapping[str, object] = {"DockerRootDir": "/of/engine", "MemoryLimit": True},
    **more: Any,
) -> tuple[str, Client]:
    client = Client(result or BuilderResult(0, "well"))
    monkeypatch.setattr(builder, "run_watched", client)
    monkeypatch.setattr(builder, "docker_with_buildkit", lambda: "/a/docker")
    monkeypatch.setattr("harness.images.builder.shutil.which", lambda program: f"/a/{program}")
    engine: Any = SimpleNamespace(name=name, socket=Path("/run/x.sock"), client=SimpleNamespace(info=lambda: info))
    image_id = builder.build(
        engine,
        folder,
        target="octave",
        arguments={"B": "2", "A": "1"},
        labels={"permafrost": "x", "a": "b"},
        epoch=77,
        **more,
    )
    return image_id, client


COMMON = [
    "--file",
    "permafrost-context.dockerfile",
    "--network",
    "none",
    "--iidfile",
    "ID",
    "--target",
    "octave",
    "--build-arg",
    "A=1",
    "--build-arg",
    "B=2",
    "--build-arg",
    "SOURCE_DATE_EPOCH=77",
    "--label",
    "a=b",
    "--label",
    "permafrost=x",
]


@pytest.mark.parametrize("cached", [True, False])
def test_docker_is_told_this_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cached: bool
) -> None:
    image_id, client = built(monkeypatch, tmp_path, "docker", cached=cached)
    own = ["/a/docker", "build", "--progress", "plain", "--pull=false"]
    assert client.command == [*own, *COMMON, *([] if cached else ["--no-cache"]), "."]
    assert client.about == (tmp_path, LIMITS, Path("/of/engine"))
    assert client.environment == {
        **os.environ,
        "DOCKER_HOST": "unix:///run/x.sock",
        "DOCKER_BUILDKIT": "1",
        "BUILDX_BUILDER": "default",
        "BUILDX_NO_DEFAULT_ATTESTATIONS": "1",
    }
    assert image_id == "sha256:made"


@pytest.mark.parametrize("memory", [True, False, None])
def test_podman_is_told_this_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, memory: bool | None
) -> None:
    info = {} if memory is None else {"MemoryLimit": memory}
    _, client = built(monkeypatch, tmp_path, "podman", info=info)
    own = ["/a/podman", "--remote", "--url", "unix:///run/x.sock", "build", "--layers=false", "--format", "docker"]
    own += ["--timestamp", "77", "--pull=never", *PODMAN_OPTIONS, *(MEMORY_OPTIONS if memory else [])]
    assert client.command == [*own, *COMMON, "."]
    assert client.environment == {**os.environ, "CONTAINERS_CONF": os.devnull}
    assert client.about == (tmp_path, LIMITS, Path())


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (BuilderResult(7, "x"), "exit 7"),
        (BuilderResult(-15, "x", "it took more than 1 s"), "stopped: it took more than 1 s"),
    ],
)
def test_a_build_that_fails_shows_the_last_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: BuilderResult, why: str
) -> None:
    lines = [f"line {number}" for number in range(41)]
    with pytest.raises(ImageError) as failed:
        built(monkeypatch, tmp_path, "docker", result=replace(result, output="\n".join(lines)))
    assert failed.value.what == "\n".join([f"docker could not build stage 'octave' ({why}):", *lines[1:]])
    assert failed.value.where == "Dockerfile"
    assert (
        failed.value.todo == "the last lines above say which step failed; `harness doctor` checks engine and disk"
    )


def test_without_the_client_of_podman_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.images.builder.shutil.which", lambda _: None)
    with pytest.raises(ImageError) as failed:
        builder._podman("unix:///x")
    assert (failed.value.what, failed.value.where, failed.value.todo) == (
        "building through Podman needs its client",
        "no `podman` on PATH",
        "install podman",
    )


def test_the_bounds_of_a_build_are_these() -> None:
    assert BuildLimits(3600, 7200.0, 8 << 30, 8 << 30, 1 << 30, 128 << 20, 64 << 20) == LIMITS
    assert LIMITS.text == "3600 8388608 16777216\n"
    assert BuildLimits(step_seconds=1, memory_bytes=3 << 10, file_bytes=5 << 9).text == "1 3 5\n"
    assert LIMITS.podman_options(memory=False) == PODMAN_OPTIONS
    assert LIMITS.podman_options(memory=True) == PODMAN_OPTIONS + MEMORY_OPTIONS
    other = BuildLimits(file_bytes=7, memory_bytes=9).podman_options(memory=True)
    assert "fsize=7:7" in other and other[-4:] == ["--memory", "9", "--memory-swap", "9"]


@pytest.mark.parametrize(
    ("now", "said", "disk", "memory", "reason"),
    [
        (50.0, 3 << 20, 5 << 20, 7 << 20, ""),
        (50.1, 3 << 20, 5 << 20, 7 << 20, "it took more than 40 s"),
        (50.0, (3 << 20) + 1, 5 << 20, 7 << 20, "it said more than 3 MiB"),
        (50.0, 3 << 20, (5 << 20) - 1, 7 << 20, "less than 5 MiB of disk stayed free at /disk"),
        (50.0, 3 << 20, 0, 7 << 20, "less than 5 MiB of disk stayed free at /disk"),
        (50.0, 3 << 20, None, 7 << 20, ""),
        (
            50.0,
            3 << 20,
            5 << 20,
            (7 << 20) - 1,
            "less than 7 MiB of the machine's memory stayed free",
        ),
        (50.0, 3 << 20, 5 << 20, 0, "less than 7 MiB of the machine's memory stayed free"),
        (50.0, 3 << 20, 5 << 20, None, ""),
    ],
)
def test_a_build_ends_just_beyond_a_bound(
    monkeypatch: pytest.MonkeyPatch, now: float, said: int, disk: int | None, memory: int | None, reason: str
) -> None:
    bounds = BuildLimits(seconds=40.0, output_bytes=3 << 20, free_disk_bytes=5 << 20, free_memory_bytes=7 << 20)
    monkeypatch.setattr("harness.images.limits.time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(limits, "_free_bytes", lambda _: disk)
    monkeypatch.setattr(limits, "_available_memory", lambda: memory)
    assert limits._reason(bounds, 50.0, Path("/disk"), said) == reason


def test_what_is_free_is_what_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "harness.images.limits.os.statvfs", lambda _: SimpleNamespace(f_bavail=3, f_bfree=5, f_frsize=4096)
    )
    assert limits._free_bytes(tmp_path) == 3 * 4096
    text = "MemTotal: 10 kB\nMemFree: 3 kB\nMemAvailable:    7 kB\nMemAvailable: 9 kB\n"
    monkeypatch.setattr("harness.images.limits.Path.read_text", lambda _: text)
    assert limits._available_memory() == 7 * 1024
    monkeypatch.setattr("harness.images.limits.Path.read_text", lambda _: "MemTotal: 10 kB\n")
    assert limits._available_memory() is None


def watched(script: str, folder: Path, **bounds: Any) -> BuilderResult:
    environment = {"PATH": os.environ["PATH"], "GIVEN": "7"}
    return run_watched(["/bin/sh", "-c", script], folder, environment, replace(LIMITS, **bounds), folder)


def test_a_client_runs_where_it_is_told_with_what_it_is_told(tmp_path: Path) -> None:
    result = watched('pwd; echo "$GIVEN$HOME"; echo wrong >&2; cat', tmp_path)
    assert result == BuilderResult(0, f"{tmp_path}\n7\nwrong\n", "")


def test_of_a_long_output_the_end_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_reason", lambda *_: "")
    long = watched("printf '0123456789\\377bcdef'", tmp_path, output_bytes=7)
    assert long.output == "9\N{REPLACEMENT CHARACTER}bcdef"
    assert watched("printf '0123456789'", tmp_path, output_bytes=10).output == "0123456789"


def test_a_client_may_end_politely_and_must_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_LOOK_SECONDS", 0.05)
    polite = watched("trap 'echo bye; exit 3' TERM; while :; do sleep 0.05; done", tmp_path, seconds=0.3)
    assert (polite.code, polite.stop_reason) == (3, "it took more than 0 s") and polite.output.endswith("bye\n")
    monkeypatch.setattr(limits, "_END_SECONDS", 0.2)
    stubborn = watched("trap '' TERM; while :; do sleep 0.05; done", tmp_path, seconds=0.3)
    assert stubborn.code == -signal.SIGKILL
