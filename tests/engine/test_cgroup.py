"""Control group texts of both versions are read alike; what can't be read claims nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine import cgroup
from harness.engine.cgroup import (
    ControlGroup,
    Shortage,
    Usage,
    groups_of,
    limit_is_kept,
    mounts,
    near_limit,
    own_group,
)

MIXED = "0::/x:y\n9:name=systemd:/a\n7:memory:/docker/1\n6:freezer:/f\n4:cpu,cpuacct:/docker/1\n"
FIRST = {
    "memory.max_usage_in_bytes": "900\n",
    "memory.limit_in_bytes": "1000\n",
    "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    "cpuacct.usage": "1500000000\n",
    "freezer.state": "THAWED\n",
}
SECOND = {
    "memory.peak": "900\n",
    "memory.max": "1000\n",
    "memory.events": "low 0\noom 0\noom_kill 0\noom_group_kill 7\n",
    "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
    "cgroup.events": "populated 1\nfrozen 0\n",
}
Made = Callable[..., tuple[ControlGroup, Path]]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A control group in made-up folders, and its folder."""

    def make(version: int, **changed: str) -> tuple[ControlGroup, Path]:
        group = tmp_path / "parent" / "docker-abc.scope"
        group.mkdir(parents=True, exist_ok=True)
        for name, text in (FIRST if version == 1 else SECOND).items():
            (group / name).write_text(changed.pop(name.replace(".", "_"), text))
        assert not changed
        controllers = ("memory", "cpuacct", "freezer") if version == 1 else ("",)
        monkeypatch.setattr(cgroup, "mounts", lambda: dict.fromkeys(controllers, tmp_path))
        monkeypatch.setattr(
            cgroup, "groups_of", lambda text: dict.fromkeys(controllers, "/parent/docker-abc.scope")
        )
        return ControlGroup(os.getpid(), "abc"), group

    return make


def oom_control(kills: int) -> str:
    return f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n"


def test_groups_of_both_versions() -> None:
    assert groups_of("0::/system.slice/docker-1.scope\n") == {"": "/system.slice/docker-1.scope"}
    assert groups_of(MIXED) == {"memory": "/docker/1", "freezer": "/f", "cpuacct": "/docker/1", "": "/x:y"}


def test_the_mounts_of_this_machine_hold_a_group_of_this_process() -> None:
    groups = groups_of(Path("/proc/self/cgroup").read_text())
    for controller, place in mounts().items():
        assert place.is_dir()
        assert controller in groups


def test_a_view_of_a_part_names_no_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (
        "30 23 0:32 / /sys/fs/cgroup rw - tmpfs tmpfs rw,memory\n"
        "31 23 0:28 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 23 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 23 0:30 / /sys/fs/cgroup/unified rw shared:1 - cgroup2 cgroup2 rw\n"
        "34 23 0:31 / /somewhere/else rw - cgroup2 cgroup2 rw\n"
    )
    monkeypatch.setattr(Path, "read_text", lambda self, **_: lines)
    read = mounts.__wrapped__()
    assert read == {"cpuacct": Path("/sys/fs/cgroup/cpu,cpuacct"), "": Path("/sys/fs/cgroup/unified")}


@pytest.mark.parametrize("version", [1, 2])
def test_both_versions_are_read(made: Made, version: int) -> None:
    seen, group = made(version)
    assert seen.version == version
    refusals = None if version == 1 else 0
    assert seen.usage == Usage(peak_bytes=900, cpu_seconds=1.5, kills=0, refusals=refusals, limit_bytes=1000)
    for path in list(group.iterdir()):
        path.unlink()
    assert seen.read() == seen.usage == replace(seen.usage, peak_bytes=900, kills=0), "the last reading is kept"
    assert not seen.is_frozen()
    seen.close()


@pytest.mark.parametrize(
    ("controllers", "mounted", "version"),
    [
        (("memory", ""), ("memory", ""), 1),
        # mixed: a controller whose mount can't be seen is read where the second version has it
        (("memory", ""), ("",), 2),
        (("",), ("memory", ""), 2),
    ],
)
def test_the_first_version_is_read_where_it_holds_the_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    controllers: tuple[str, ...],
    mounted: tuple[str, ...],
    version: int,
) -> None:
    for controller in mounted:
        group = tmp_path / f"mount-{controller}" / "docker-abc.scope" / "inner"
        group.mkdir(parents=True)
        for name, text in (FIRST if controller else SECOND).items():
            (group.parent / name).write_text(text)
        (group.parent / "cgroup.procs").write_text("12\n7\n")
        (group / "cgroup.procs").write_text("9\n")
    monkeypatch.setattr(cgroup, "mounts", lambda: {name: tmp_path / f"mount-{name}" for name in mounted})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: dict.fromkeys(controllers, "/docker-abc.scope/inner"))
    seen = ControlGroup(os.getpid(), "abc")
    assert seen.version == version and seen.usage.peak_bytes == 900
    assert seen.processes() == [12, 7, 9]
    seen.close()


@pytest.mark.parametrize("version", [1, 2])
def test_peaks_and_counters_never_fall(made: Made, version: int) -> None:
    changed = {"memory_oom_control": oom_control(2)} if version == 1 else {"memory_events": "oom 7\noom_kill 2\n"}
    refusals = None if version == 1 else 7
    seen, group = made(version, **changed)
    assert (seen.usage.kills, seen.usage.refusals) == (2, refusals)
    for name, text in (FIRST if version == 1 else SECOND).items():
        (group / name).write_text(text.replace("900", "100").replace("15", "05"))
    expected = Usage(peak_bytes=900, cpu_seconds=1.5, kills=2, refusals=refusals, limit_bytes=1000)
    assert seen.read() == expected


@pytest.mark.parametrize("version", [1, 2])
def test_of_a_group_that_is_gone_the_last_reading_stays(made: Made, version: int) -> None:
    """Its limit, too: by it a kill is told from one that another's want of memory brought about."""
    seen, group = made(version)
    before = seen.usage
    shutil.rmtree(group)
    assert seen.read() == before and before.limit_bytes == 1000


def test_an_old_kernel_without_a_peak_tells_what_is_used(made: Made) -> None:
    seen, group = made(2, memory_peak="unknown")
    assert seen.usage.peak_bytes is None
    (group / "memory.current").write_text("700\n")
    assert seen.read().peak_bytes == 700


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("text", "number"), [("0\n", 0), ("none\n", None)])
def test_nothing_used_is_not_the_same_as_nothing_read(
    made: Made, tmp_path: Path, version: int, text: str, number: int | None
) -> None:
    """A record of the one says 0, of the other that it was not measured."""
    if version == 1:
        changed = dict.fromkeys(("memory_max_usage_in_bytes", "memory_limit_in_bytes", "cpuacct_usage"), text)
    else:
        changed = {"memory_peak": text, "memory_max": text, "cpu_stat": f"usage_usec {text}"}
        (tmp_path / "parent" / "docker-abc.scope").mkdir(parents=True)
        (tmp_path / "parent" / "docker-abc.scope" / "memory.current").write_text(text)
    seen, _ = made(version, **changed)
    assert (seen.usage.peak_bytes, seen.usage.cpu_seconds, seen.usage.limit_bytes) == (number,) * 3


@pytest.mark.parametrize("version", [1, 2])
def test_the_lowest_limit_on_the_way_to_the_process_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    controller, name = ("memory", "memory.limit_in_bytes") if version == 1 else ("", "memory.max")
    leaf = tmp_path / "libpod-abc.scope" / "container"
    leaf.mkdir(parents=True)
    (leaf.parent / name).write_text("max\n")
    (leaf / name).write_text("1000\n")
    (tmp_path / name).write_text("5\n")
    monkeypatch.setattr(cgroup, "mounts", lambda: {controller: tmp_path})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: {controller: "/libpod-abc.scope/container"})
    assert ControlGroup(os.getpid(), "abc").usage.limit_bytes == 1000, "the group around is not the container's"
    (leaf / name).unlink()
    unlimited = ControlGroup(os.getpid(), "abc").usage
    assert limit_is_kept(unlimited, 1 << 50) is False and unlimited.limit_bytes == 1 << 60


def test_the_first_version_sums_what_lies_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = tmp_path / "libpod-abc" / "container"
    leaf.mkdir(parents=True)
    for folder in (leaf, leaf.parent):
        (folder / "memory.oom_control").write_text(oom_control(1))
    monkeypatch.setattr(cgroup, "mounts", lambda: {"memory": tmp_path})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: {"memory": "/libpod-abc/container"})
    assert ControlGroup(os.getpid(), "abc").usage.kills == 2
    (leaf / "memory.oom_control").unlink()
    assert ControlGroup(os.getpid(), "abc").usage.kills == 1


@pytest.mark.parametrize(
    ("changed", "shortage"),
    [
        ({}, Shortage.NONE),
        ({"memory_max_usage_in_bytes": "1000"}, Shortage.NONE),
        ({"memory_oom_control": oom_control(1)}, Shortage.ABOVE),
        ({"memory_oom_control": oom_control(1), "memory_max_usage_in_bytes": "969"}, Shortage.ABOVE),
        ({"memory_oom_control": oom_control(1), "memory_max_usage_in_bytes": "970"}, Shortage.OWN),
        ({"memory_oom_control": oom_control(1), "memory_limit_in_bytes": "900"}, Shortage.OWN),
    ],
)
def test_the_first_version_tells_whose_memory_ran_out(
    made: Made, changed: dict[str, str], shortage: Shortage
) -> None:
    seen, _ = made(1, **changed)
    seen.read_at_end()
    assert seen.shortage() is shortage


@pytest.mark.parametrize(
    ("events", "shortage"),
    [
        ("oom 0\noom_kill 0\n", Shortage.NONE),
        ("oom 3\noom_kill 0\n", Shortage.NONE),
        ("oom 0\noom_kill 1\n", Shortage.ABOVE),
        ("oom 1\noom_kill 1\n", Shortage.OWN),
    ],
)
def test_the_second_version_tells_whose_memory_ran_out(made: Made, events: str, shortage: Shortage) -> None:
    seen, _ = made(2, memory_events=events)
    seen.read_at_end()
    assert seen.shortage() is shortage


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_that_was_gone_before_its_last_reading_claims_nothing(made: Made, version: int) -> None:
    seen, group = made(version)
    for path in list(group.iterdir()):
        path.unlink()
    seen.read_at_end()
    assert seen.shortage() is Shortage.UNREAD


def test_a_refusal_that_was_read_is_believed_although_the_kill_was_not(made: Made) -> None:
    seen, group = made(2, memory_events="oom 1\noom_kill 0\n")
    (group / "memory.events").unlink()
    seen.read_at_end()
    assert seen.shortage() is Shortage.OWN


def test_a_kill_that_was_read_stays(made: Made) -> None:
    seen, group = made(2, memory_events="oom 1\noom_kill 1\n")
    (group / "memory.events").unlink()
    assert seen.shortage() is Shortage.OWN


@pytest.mark.parametrize("version", [1, 2])
def test_a_kill_after_the_last_reading_is_read_at_the_end(made: Made, version: int) -> None:
    seen, group = made(version)
    (group / "memory.oom_control").write_text(oom_control(1))
    (group / "memory.events").write_text("oom 1\noom_kill 1\n")
    seen.read_at_end()
    assert seen.usage.kills == 1 and seen.shortage() is not Shortage.NONE


def subscribed(group: Path) -> int:
    """The number by which the kernel would signal a shortage of this group."""
    return int((group / "cgroup.event_control").read_text().split()[0])


def test_the_kernels_signals_are_asked_for_taken_and_let_go_of(made: Made, tmp_path: Path) -> None:
    """Of the group itself, and of the one around it, whose shortage is not the container's."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    group = tmp_path / "parent" / "docker-abc.scope"
    group.mkdir(parents=True)
    for folder in (group, group.parent):
        (folder / "memory.oom_control").write_text(oom_control(0))
        (folder / "cgroup.event_control").touch()
    seen, _ = made(1)
    assert seen.events == subscribed(group) != subscribed(group.parent)
    os.eventfd_write(subscribed(group), 1)
    (group / "memory.oom_control").write_text(oom_control(1))
    (group / "memory.max_usage_in_bytes").write_text("1000\n")
    seen.take_signal()
    assert seen.usage.kills == 1, "whoever is woken reads again"
    assert seen.shortage() is Shortage.OWN
    os.eventfd_write(subscribed(group.parent), 1)
    seen.take_signal()
    assert seen.shortage() is Shortage.ABOVE
    seen.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


class Signal:
    """A signal that says what it is told."""

    def __init__(self, word: bool) -> None:
        self.word, self.handle, self.count = word, 99, int(word)

    def take(self) -> bool:
        return self.word


@pytest.mark.parametrize(
    ("own", "above", "complete", "kills", "shortage"),
    [
        (True, True, True, 1, Shortage.ABOVE),
        (True, False, True, 1, Shortage.OWN),
        (False, False, True, 1, Shortage.ABOVE),
        (True, True, True, 0, Shortage.NONE),
        (True, True, False, 0, Shortage.ABOVE),
        (True, False, False, 0, Shortage.OWN),
        (False, False, False, 0, Shortage.UNREAD),
    ],
)
def test_a_signal_to_the_parent_is_not_the_containers_own(
    made: Made,
    monkeypatch: pytest.MonkeyPatch,
    own: bool,
    above: bool,
    complete: bool,
    kills: int,
    shortage: Shortage,
) -> None:
    """It reached its own limit, too, for example by reading files."""
    seen, group = made(1, memory_oom_control=oom_control(kills), memory_max_usage_in_bytes="1000")
    monkeypatch.setattr(seen, "_signal", Signal(own))
    monkeypatch.setattr(seen, "_signal_above", Signal(above))
    seen.take_signal()
    if not complete:
        (group / "memory.oom_control").unlink()
    seen.read_at_end()
    assert seen.shortage() is shortage


@pytest.mark.parametrize(
    ("version", "name", "text", "frozen"),
    [
        (1, "freezer.state", "FROZEN\n", True),
        (1, "freezer.state", "FREEZING\n", False),
        (1, "freezer.state", "THAWED\n", False),
        (2, "cgroup.events", "populated 1\nfrozen 1\n", True),
        (2, "cgroup.events", "populated 1\nfrozen 0\n", False),
    ],
)
def test_a_pause_is_seen(made: Made, version: int, name: str, text: str, frozen: bool) -> None:
    seen, group = made(version)
    (group / name).write_text(text)
    assert seen.is_frozen() is frozen


def test_a_group_shared_with_others_is_not_read_as_the_containers() -> None:
    assert own_group("/user.slice/user-1000.slice/session-1.scope", "abc") is None
    assert own_group("/", "abc") is None and own_group("/docker/x", "") is None
    assert own_group("/docker/abc", "abc") == "docker/abc"
    assert own_group("/machine.slice/libpod-abc.scope/container", "abc") == "machine.slice/libpod-abc.scope"
    assert own_group("/xen.slice/abc", "abc") == "xen.slice/abc"


def test_a_process_that_is_gone_claims_nothing() -> None:
    seen = ControlGroup(2**22 + 1, "abc")
    assert seen.usage == seen.read() == Usage() and seen.events is None and not seen.is_frozen()
    seen.read_at_end()
    assert seen.shortage() is Shortage.UNREAD


@pytest.mark.parametrize(("controller", "version"), [("memory", 1), ("", 2)])
def test_a_group_of_others_claims_nothing_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, controller: str, version: int
) -> None:
    monkeypatch.setattr(cgroup, "mounts", lambda: {controller: tmp_path})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: {controller: "/user.slice"})
    seen = ControlGroup(os.getpid(), "abc")
    seen.read_at_end()
    assert (seen.version, seen.usage, seen.shortage()) == (version, Usage(), Shortage.UNREAD)
    assert seen.processes() == [] and not seen.is_frozen()
    seen.close()


@pytest.mark.parametrize("events", ["oom 1\noom_kill max\n", "oom 1\noom_kill\n", "oom 1\nmy_oom_kill 3\n"])
def test_a_counter_that_is_no_number_is_unread(made: Made, events: str) -> None:
    seen, _ = made(2, memory_events=events)
    assert (seen.usage.refusals, seen.usage.kills) == (1, None)


def test_what_is_near_a_limit() -> None:
    assert near_limit(970, 1000) and near_limit(1000, 1000)
    assert not near_limit(969, 1000) and not near_limit(None, 1000) and not near_limit(1000, None)


def test_a_limit_is_kept_only_if_the_kernel_holds_it() -> None:
    assert limit_is_kept(Usage(limit_bytes=100), 100) is True
    assert limit_is_kept(Usage(limit_bytes=101), 100) is False
    assert limit_is_kept(Usage(limit_bytes=1 << 62), 100) is False
    assert limit_is_kept(Usage(), 100) is None
