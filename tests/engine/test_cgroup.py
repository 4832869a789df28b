"""Control group texts of both versions are read alike; what can't be read claims nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.engine import cgroup
from harness.engine.cgroup import ControlGroup, Usage, groups_of, limit_is_kept, own_group


def test_groups_of_both_versions() -> None:
    assert groups_of("0::/system.slice/docker-1.scope\n") == {"": "/system.slice/docker-1.scope"}
    mixed = "9:name=systemd:/a\n7:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/x:y\n"
    assert groups_of(mixed) == {"memory": "/docker/1", "cpuacct": "/docker/1", "": "/x:y"}


def test_the_second_version_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "libpod-abc.scope"
    (group / "container").mkdir(parents=True)
    (group / "container" / "memory.max").write_text("max\n")
    files = {
        "memory.peak": "900\n",
        "memory.max": "1000\n",
        "memory.events": "low 0\noom 1\noom_kill 2\n",
        "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
    }
    for name, text in files.items():
        (group / name).write_text(text)
    monkeypatch.setattr(cgroup, "mounts", lambda: {"": tmp_path})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: {"": "/libpod-abc.scope/container"})
    seen = ControlGroup(os.getpid(), "abc")
    assert seen.usage == Usage(peak_bytes=900, cpu_seconds=1.5, kills=2, limit_bytes=1000)
    assert seen.out_of_memory
    for name in files:
        (group / name).unlink()
    assert seen.read().peak_bytes == 900, "the last reading is kept when the group is gone"


def test_a_group_shared_with_others_is_not_read_as_the_containers() -> None:
    assert own_group("/user.slice/user-1000.slice/session-1.scope", "abc") is None
    assert own_group("/", "abc") is None and own_group("/docker/x", "") is None
    assert own_group("/docker/abc", "abc") == "docker/abc"
    assert own_group("/machine.slice/libpod-abc.scope/container", "abc") == "machine.slice/libpod-abc.scope"


def test_a_process_that_is_gone_claims_nothing() -> None:
    seen = ControlGroup(2**22 + 1, "abc")
    assert seen.usage == Usage() and not seen.out_of_memory and seen.events is None


def test_a_limit_is_kept_only_if_the_kernel_holds_it() -> None:
    assert limit_is_kept(Usage(limit_bytes=100), 100) is True
    assert limit_is_kept(Usage(limit_bytes=1 << 62), 100) is False
    assert limit_is_kept(Usage(), 100) is None
