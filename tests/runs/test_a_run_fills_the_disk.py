"""What a run writes counts even where no folder shows it, and what others need stays free."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.machine import GIB, has_room_for_files, reserve_of, room_on
from harness.execution.runs import disk
from harness.execution.runs.disk import disk_fault, output_fault
from harness.execution.runs.request import Limits
from harness.execution.runs.user import ContainerUser
from harness.execution.runs.workspace import Workspace, new_workspace

LIMITS = Limits(seconds=1, memory_bytes=1, output_bytes=1 << 20, output_files=20)
HOLD = """
import mmap, os, sys, threading, time
held = []
for number in range(int(sys.argv[2])):
    path = f"{sys.argv[1]}/{number}"
    held.append(open(path, "w+b"))
    held[-1].write(bytes(int(sys.argv[3])))
    held[-1].flush()
    if sys.argv[4] == "mapped":
        held.append(mmap.mmap(held[-1].fileno(), 0))
        held[-2].close()
        # a map in Python holds a handle of its own
        os.closerange(3, 64)
    os.unlink(path)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "work", ContainerUser(65534, 65534, own=False))


@contextmanager
def holding(workspace: Workspace, files: int, size: int, how: str = "open") -> Iterator[int]:
    """A process that holds deleted files in /out."""
    command = [sys.executable, "-c", HOLD, str(workspace.out), str(files), str(size), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process.pid
        process.kill()


def test_deleted_files_count_while_they_are_open(workspace: Workspace) -> None:
    with holding(workspace, 3, 400_000) as process:
        assert output_fault(workspace, LIMITS) == ""
        fault = output_fault(workspace, LIMITS, [process])
        assert "wrote 12" in fault and "in deleted files that it holds open; the limit is 1048576" in fault
    assert output_fault(workspace, LIMITS, [process]) == "", "with their process, deleted files are gone"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look at what a process has mapped")
def test_deleted_files_count_while_they_are_mapped(workspace: Workspace) -> None:
    with holding(workspace, 3, 400_000, "mapped") as process:
        assert "deleted files" in output_fault(workspace, LIMITS, [process])


def test_deleted_and_other_files_count_together(workspace: Workspace) -> None:
    (workspace.out / "predictions.npy").write_bytes(bytes(700_000))
    with holding(workspace, 1, 400_000) as process:
        assert "wrote 11" in output_fault(workspace, LIMITS, [process])


def test_deleted_files_are_files(workspace: Workspace) -> None:
    with holding(workspace, 21, 1) as process:
        assert output_fault(workspace, LIMITS, [process]) == "made more than 20 files and folders in /out"


def test_deleted_files_count_by_the_blocks_they_take(workspace: Workspace) -> None:
    with holding(workspace, 20, 1) as process:
        assert output_fault(workspace, LIMITS, [process]) == ""
        fault = output_fault(workspace, replace(LIMITS, output_bytes=1 << 16), [process])
        told = "wrote 81920 bytes to /out, 81920 of them in deleted files that it holds open; the limit is 65536"
        assert fault == told


@contextmanager
def keeping(handles: list[int]) -> Iterator[int]:
    """A process that has nothing open but these and its program, which lies elsewhere."""
    with subprocess.Popen(["sleep", "60"], pass_fds=handles, stdin=subprocess.DEVNULL) as process:
        for handle in handles:
            os.close(handle)
        yield process.pid
        process.kill()


def test_files_that_are_not_deleted_or_lie_elsewhere_count_once_or_not(workspace: Workspace) -> None:
    (workspace.out / "a").write_bytes(bytes(700_000))
    with keeping([os.open(workspace.out / "a", os.O_RDONLY)]) as process:
        assert output_fault(workspace, LIMITS, [process]) == ""
    # nor does a deleted one take more for being held twice
    held = os.open(workspace.out / "a", os.O_RDONLY)
    (workspace.out / "a").unlink()
    with keeping([held, os.dup(held)]) as process:
        assert output_fault(workspace, LIMITS, [process]) == ""
        assert "wrote 7" in output_fault(workspace, replace(LIMITS, output_bytes=700_000), [process])
    # in memory, which has its own limit: such a file has never had a name
    memory = os.memfd_create("elsewhere")
    os.truncate(memory, 700_000)
    with keeping([memory]) as process:
        assert output_fault(workspace, LIMITS, [process]) == ""


def test_deleted_pipes_are_no_files(workspace: Workspace) -> None:
    handles = []
    for number in range(21):
        pipe = workspace.out / str(number)
        os.mkfifo(pipe)
        handles.append(os.open(pipe, os.O_RDWR))
        pipe.unlink()
    with keeping(handles) as process:
        assert output_fault(workspace, LIMITS, [process]) == ""


def test_looking_at_what_a_run_holds_open_has_an_end(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    handles = iter(range(1 << 20))
    monkeypatch.setattr(disk, "_handles", lambda processes: (f"/nowhere/{number}" for number in handles))
    assert output_fault(workspace, LIMITS, [1]) == ""
    assert next(handles) == 100_002, "the first that is too many ends it"


def test_what_still_runs_is_looked_at_without_opening_what_it_has_closed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[tuple[Any, ...]]()

    def size_of(*words: Any, **named: Any) -> tuple[int, int]:
        asked.append((*words, named))
        return 0, 0

    monkeypatch.setattr(disk, "size_of", size_of)
    output_fault(workspace, LIMITS)
    output_fault(workspace, LIMITS, ended=True)
    assert asked == [(workspace.out, {"most_files": 20, "ended": ended}) for ended in (False, True)]


def test_the_reserve_suits_the_disk() -> None:
    sizes = {GIB: GIB // 8, 10 * GIB: 10 * GIB // 8, 20 * GIB: 2 * GIB, 60 * GIB: 3 * GIB, 9000 * GIB: 4 * GIB}
    assert {size: reserve_of(size) for size in sizes} == sizes


def _disk(monkeypatch: pytest.MonkeyPatch, *, free: int, files: tuple[int, int]) -> None:
    """A disk of 80 GiB in blocks of 4 KiB; ordinary users may not use the last 1,000 blocks."""
    total, free = 80 * GIB // 4096, free // 4096
    state = (4096, 4096, total, free + 1000, free, files[1], files[0] + 7, files[0], 0, 255)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(state))


@pytest.mark.parametrize(
    ("free", "files", "words"),
    [
        (4 * GIB, (20_000, 5_000_000), ""),
        (4 * GIB - 4096, (20_000, 5_000_000), "is full: 1 MiB more must stay free"),
        (0, (20_000, 5_000_000), "is full: 4096 MiB more must stay free"),
        (5 * GIB, (19_999, 5_000_000), "has no room for more files"),
        (5 * GIB, (9, 200), "has no room for more files"),
        (5 * GIB, (10, 200), ""),
        (5 * GIB, (0, 0), ""),
    ],
)
def test_a_disk_is_full_before_nothing_is_left(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, free: int, files: tuple[int, int], words: str
) -> None:
    _disk(monkeypatch, free=free, files=files)
    fault = disk_fault(workspace)
    assert fault.endswith(words) and bool(fault) == bool(words)
    assert room_on(workspace.folder) == free - 4 * GIB
    assert has_room_for_files(workspace.folder) == ("files" not in words)
