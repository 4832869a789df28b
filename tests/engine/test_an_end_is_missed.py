"""The end of a container is seen in the kernel, and a process that is not the container's is never believed."""

from __future__ import annotations

import os
import re
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine import processes, shortage
from harness.engine.processes import ContainerProcesses
from harness.engine.shortage import ShortageSignal
from tests.engine.children import in_child, leave_the_mounts

# stands in every line of /proc/PID/cgroup, as a container's id stands in its own
EVERYBODY = ":/"


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    """A process with a child, as an engine's shim has; the child's number is its first line."""
    with subprocess.Popen(
        ["/bin/sh", "-c", "sleep 100 & echo $!; wait"], stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def child_of(parent: subprocess.Popen[str]) -> int:
    assert parent.stdout is not None
    return int(parent.stdout.readline())


def wait_until_readable(handle: int) -> None:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    assert poll.poll(10_000)


def test_the_end_of_the_main_process_is_seen(parent: subprocess.Popen[str]) -> None:
    pid = child_of(parent)
    seen = ContainerProcesses(pid, EVERYBODY)
    assert seen.main is not None and seen.monitor is not None and not seen.ended()
    assert seen.handles == (seen.main, seen.monitor)
    os.kill(pid, 9)
    wait_until_readable(seen.main)
    assert seen.ended() and not seen.monitor_lost()
    parent.kill()
    wait_until_readable(seen.monitor)
    assert not seen.monitor_lost(), "it ended after the container: an engine tidies up"
    seen.close()
    assert not seen.handles and not seen.ended()


def test_a_monitor_that_dies_first_is_lost_for_good(parent: subprocess.Popen[str]) -> None:
    pid = child_of(parent)
    seen = ContainerProcesses(pid, EVERYBODY)
    assert seen.main is not None and seen.monitor is not None and not seen.monitor_lost()
    parent.kill()
    wait_until_readable(seen.monitor)
    assert seen.monitor_lost() and not seen.ended()
    os.kill(pid, 9)
    wait_until_readable(seen.main)
    assert seen.monitor_lost() and seen.ended()
    seen.close()


def test_another_process_of_that_number_is_not_believed(parent: subprocess.Popen[str]) -> None:
    pid = child_of(parent)
    for container in ("0123456789ab", ""):
        seen = ContainerProcesses(pid, container)
        assert not seen.handles and not seen.ended() and not seen.monitor_lost()
    os.kill(pid, 9)


@pytest.mark.parametrize("name", [b"(a) R 0 (b)", b"(f\xc3\xbcnfzehnbytes\xc3)"])
def test_a_process_has_its_own_parent_whatever_its_name_is(
    parent: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes
) -> None:
    """A method may call its process as the rest of its line reads, and the kernel cuts a name within a letter."""
    pid, shown = child_of(parent), tmp_path / "stat"
    shown.write_bytes(re.sub(rb"\(.*\)", name, Path(f"/proc/{pid}/stat").read_bytes()))
    monkeypatch.setattr(processes, "Path", lambda text: shown if text.endswith("/stat") else Path(text))
    seen = ContainerProcesses(pid, EVERYBODY)
    parent.kill()
    assert seen.monitor is not None
    wait_until_readable(seen.monitor)
    assert seen.monitor_lost()
    seen.close()
    os.kill(pid, 9)


@pytest.mark.parametrize("pid", [0, 1, -1, 2**22 + 1])
def test_no_process_claims_nothing(pid: int) -> None:
    seen = ContainerProcesses(pid, EVERYBODY)
    assert not seen.handles and not seen.ended() and not seen.monitor_lost()


@pytest.mark.parametrize("text", [None, ""])
def test_a_process_that_ends_while_it_is_looked_at_claims_nothing(
    monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    """Nothing of it stays open, either; nor of one that was the container's, once it is closed."""

    def read(path: Path, **_: object) -> str:
        if text is None:
            raise ProcessLookupError
        return EVERYBODY if path.name == "cgroup" else text

    before = len(list(Path("/proc/self/fd").iterdir()))
    seen = ContainerProcesses(os.getpid(), EVERYBODY)
    assert len(seen.handles) == len(list(Path("/proc/self/fd").iterdir())) - before > 0
    seen.close()
    monkeypatch.setattr(Path, "read_text", read)
    assert ContainerProcesses(os.getpid(), EVERYBODY).handles == ()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_that_cannot_be_waited_for_claims_nothing(tmp_path: Path, version: int) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for group in (None, tmp_path):
        signal = ShortageSignal(group, version=version)
        assert signal.handle is None and not signal.take()
        signal.close()
    # files as of a kernel that refuses to be waited for
    for name in ("memory.oom_control", "memory.events"):
        (tmp_path / name).write_text("oom_kill 0\n")
    (tmp_path / "cgroup.event_control").mkdir()
    signal = ShortageSignal(tmp_path, version=version)
    assert signal.handle is None and not signal.take()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_one_signal_may_be_the_groups_removal_and_two_are_not(tmp_path: Path) -> None:
    (tmp_path / "memory.oom_control").write_text("oom_kill 0\n")
    (tmp_path / "cgroup.event_control").touch()
    signal = ShortageSignal(tmp_path)
    assert signal.handle is not None and not signal.take()
    event, control = (tmp_path / "cgroup.event_control").read_text().split()
    assert int(event) == signal.handle and int(control) > 2
    os.eventfd_write(signal.handle, 1)
    assert signal.take(), "the group is there: memory ran out"
    (tmp_path / "memory.oom_control").unlink()
    assert not signal.take(), "it may have been removed"
    os.eventfd_write(signal.handle, 1)
    assert signal.take()
    signal.close()
    assert signal.handle is None and not signal.take()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount")
def test_a_change_of_the_second_versions_counters_wakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`cgroup.events` of a group of our own: the same kind of file, which a test can change."""
    monkeypatch.setattr(shortage, "EVENTS", "cgroup.events")

    def work() -> object:
        if subprocess.run(["mount", "-t", "cgroup2", "none", tmp_path], stderr=subprocess.DEVNULL).returncode:
            return "no second version here"
        group = tmp_path / f"permafrost-test-{os.getpid()}"
        group.mkdir()
        before = len(list(Path("/proc/self/fd").iterdir()))
        signal = ShortageSignal(group, version=2)
        assert signal.handle is not None
        poll = select.poll()
        poll.register(signal.handle, select.POLLIN)
        # a file is always readable; only its change counts
        woken = [bool(poll.poll(50))]
        with subprocess.Popen(["sleep", "100"]) as process:
            (group / "cgroup.procs").write_text(str(process.pid))
            woken.append(bool(poll.poll(5000)))
            # until it is taken
            woken.append(bool(poll.poll(50)))
            certain = signal.take()
            woken.append(bool(poll.poll(50)))
            process.kill()
        woken.append(bool(poll.poll(5000)))
        signal.close()
        left_open = len(list(Path("/proc/self/fd").iterdir())) - before
        group.rmdir()
        return woken, certain, left_open, signal.handle, signal.take()

    seen = in_child(leave_the_mounts, work)
    if seen == "no second version here":
        pytest.skip(seen)
    assert seen == str(([False, True, True, False, True], False, 0, None, False))
