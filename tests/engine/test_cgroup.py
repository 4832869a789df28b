"""Control group texts of both versions are read alike; what can't be read claims nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engine import cgroup
from harness.engine.cgroup import ControlGroup, Usage, groups_of, limit_is_kept


def test_groups_of_both_versions() -> None:
    assert groups_of("0::/system.slice/docker-1.scope\n") == {"": "/system.slice/docker-1.scope"}
    mixed = "9:name=systemd:/a\n7:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/x:y\n"
    assert groups_of(mixed) == {"memory": "/docker/1", "cpuacct": "/docker/1", "": "/x:y"}


def test_the_second_version_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "run"
    group.mkdir()
    files = {
        "memory.peak": "900\n",
        "memory.max": "1000\n",
        "memory.events": "low 0\noom 1\noom_kill 2\n",
        "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
    }
    for name, text in files.items():
        (group / name).write_text(text)
    monkeypatch.setattr(cgroup, "mounts", lambda: {"": tmp_path})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: {"": "/run"})
    import os

    seen = ControlGroup(os.getpid())
    assert seen.usage == Usage(peak_bytes=900, cpu_seconds=1.5, kills=2, limit_bytes=1000)
    assert seen.out_of_memory
    for name in files:
        (group / name).unlink()
    assert seen.read().peak_bytes == 900, "the last reading is kept when the group is gone"


def test_a_process_that_is_gone_claims_nothing() -> None:
    seen = ControlGroup(2**22 + 1)
    assert seen.usage == Usage() and not seen.out_of_memory and seen.events is None


def test_a_limit_is_kept_only_if_the_kernel_holds_it() -> None:
    assert limit_is_kept(Usage(limit_bytes=100), 100) is True
    assert limit_is_kept(Usage(limit_bytes=1 << 62), 100) is False
    assert limit_is_kept(Usage(), 100) is None
