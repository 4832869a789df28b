"""Limits of the output hold for the whole run, count what the disk holds, and nothing unexpected is taken."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from harness.base.ownership import own_folder
from harness.execution.runs.disk import output_fault
from harness.execution.runs.request import Limits
from harness.execution.runs.user import ContainerUser
from harness.execution.runs.workspace import Collection, Workspace, collect, make_readable, new_workspace, size_of
from tests.runs.helpers import ANSWER

LIMITS = Limits(seconds=1, memory_bytes=1, output_bytes=1000, output_files=50)
WANTED, EXPECTED = ANSWER["required"], ANSWER["expected"]
USER = ContainerUser(1_900_000_001, 1_900_000_001, own=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "work", USER)


def write(workspace: Workspace, **sizes: int) -> None:
    for name, size in sizes.items():
        path = workspace.out / f"{name.replace('_', '/')}.npy"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(size))


def test_the_limit_is_of_all_files_together(workspace: Workspace) -> None:
    write(workspace, lowest=400, predictions=400, validation=400)
    taken = collect(workspace, LIMITS, WANTED, EXPECTED)
    assert taken.fault == "validation.npy is larger than the output limit" and taken.bytes == 800
    assert sorted(path.name for path in workspace.collected.iterdir()) == ["lowest.npy", "predictions.npy"]


def test_traces_count_and_are_refused_one_by_one(workspace: Workspace) -> None:
    write(workspace, predictions=400, trace_a=400, trace_b=400, trace_c=100)
    taken = collect(workspace, LIMITS, WANTED, EXPECTED, traces=True)
    assert taken.fault == "" and taken.bytes == 900
    assert taken.ignored == ("trace/b.npy (is larger than the output limit)",)
    assert sorted(path.name for path in (workspace.collected / "trace").iterdir()) == ["a.npy", "c.npy"]


def test_a_trace_leaves_less_for_what_follows(workspace: Workspace) -> None:
    write(workspace, trace_a=700, validation=700)
    assert "validation.npy is larger" in collect(workspace, LIMITS, (), EXPECTED, traces=True).fault


def test_what_fills_the_limit_exactly_is_taken(workspace: Workspace) -> None:
    write(workspace, lowest=500, predictions=500)
    assert collect(workspace, LIMITS, WANTED, EXPECTED).fault == ""


def test_an_empty_file_is_told_from_a_missing_one(workspace: Workspace) -> None:
    assert collect(workspace, LIMITS, WANTED, EXPECTED).fault == "predictions.npy is missing"
    write(workspace, predictions=0)
    assert collect(workspace, LIMITS, WANTED, EXPECTED).fault == "predictions.npy is empty"


def test_each_file_that_must_be_there_must_hold_something(workspace: Workspace) -> None:
    wanted = ("predictions.npy", "validation.npy")
    write(workspace, predictions=1, validation=0)
    assert collect(workspace, LIMITS, wanted, EXPECTED).fault == "validation.npy is empty"
    (workspace.out / "validation.npy").unlink()
    (workspace.collected / "validation.npy").unlink()
    assert collect(workspace, LIMITS, wanted, EXPECTED).fault == "validation.npy is missing"


def test_of_two_faults_the_first_file_has_the_one_that_is_told(workspace: Workspace) -> None:
    wanted = ("predictions.npy", "validation.npy")
    write(workspace, validation=0)
    assert collect(workspace, LIMITS, wanted, EXPECTED).fault == "predictions.npy is missing"


def test_no_more_names_are_looked_at_than_there_may_be(workspace: Workspace) -> None:
    write(workspace, lowest=1, predictions=1, validation=1)
    few = Limits(seconds=1, memory_bytes=1, output_bytes=1000, output_files=2)
    taken = collect(workspace, few, (), EXPECTED)
    assert (taken.fault, taken.bytes) == ("", 2)
    assert sorted(path.name for path in workspace.collected.iterdir()) == ["lowest.npy", "predictions.npy"]


def test_only_expected_names_are_taken(workspace: Workspace) -> None:
    for name in (*EXPECTED, "other.npy", "Predictions.npy", ".hidden"):
        (workspace.out / name).write_bytes(b"x")
    (workspace.out / "trace").mkdir()
    for name in ("ok-1.npy", ".x.npy", "a b.npy", "x.txt", "x.npy.sh", "x" * 150 + ".npy"):
        (workspace.out / "trace" / name).write_bytes(b"x")
    taken = collect(workspace, LIMITS, WANTED, EXPECTED, traces=True)
    found = sorted(path.relative_to(workspace.collected).as_posix() for path in workspace.collected.rglob("*.*"))
    assert found == sorted((*EXPECTED, "trace/ok-1.npy"))
    assert len(taken.ignored) == 8


def test_a_required_name_is_expected(workspace: Workspace) -> None:
    (workspace.out / "own.npy").write_bytes(b"x")
    assert collect(workspace, LIMITS, ("own.npy",), EXPECTED).fault == ""
    assert (workspace.collected / "own.npy").exists()


def test_remarks_are_bounded(workspace: Workspace) -> None:
    for number in range(30):
        (workspace.out / f"{number:02d}{'x' * 240}").touch()
    ignored = collect(workspace, LIMITS, (), EXPECTED).ignored
    assert len(ignored) == 21 and ignored[-1] == "and 10 more"
    assert {len(name) for name in ignored[:-1]} == {200}


def test_small_files_count_by_their_blocks(workspace: Workspace) -> None:
    for number in range(10):
        (workspace.out / str(number)).write_bytes(b"x")
    block = (workspace.out / "0").stat().st_blocks * 512
    if block == 0:
        pytest.skip("this file system keeps small files without blocks")
    assert block > 1 and size_of(workspace.out, most_files=50) == (10 * block, 10)


def test_folders_below_are_counted_and_links_are_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(100_000))
    (workspace.out / "link").symlink_to(tmp_path / "large")
    (workspace.out / "deep" / "deeper").mkdir(parents=True)
    with (workspace.out / "deep" / "deeper" / "sparse").open("wb") as stream:
        stream.truncate(50_000)
    total, entries = size_of(workspace.out, most_files=50)
    assert 50_000 <= total < 100_000 and entries == 4


@pytest.mark.parametrize(("size", "words"), [(999, ""), (1000, "wrote 1000 bytes to /out; the limit is 1000")])
def test_output_that_reaches_its_limit_wanted_more(workspace: Workspace, size: int, words: str) -> None:
    with (workspace.out / "a").open("wb") as stream:
        stream.truncate(size)
    assert output_fault(workspace, LIMITS) == words


@pytest.mark.parametrize(("count", "words"), [(50, ""), (51, "made more than 50 files and folders in /out")])
def test_files_beyond_their_number(workspace: Workspace, count: int, words: str) -> None:
    for number in range(count):
        (workspace.out / str(number)).touch()
    assert output_fault(workspace, LIMITS) == words


def test_a_workspace_is_private_and_its_output_is_not(workspace: Workspace) -> None:
    assert workspace.folder.stat().st_mode & 0o777 == 0o700
    assert workspace.out.stat().st_mode & 0o777 == 0o777
    assert workspace.folder.parent == own_folder(workspace.folder.parent.parent)
    assert workspace.name == f"{workspace.folder.parent.name}-{workspace.folder.name}"
    if os.geteuid() == 0:
        assert workspace.out.stat().st_uid == workspace.out.stat().st_gid == USER.uid
    workspace.log.touch()
    assert workspace.discard() == [] and not workspace.folder.exists()


def test_inputs_below_are_made_readable_and_nothing_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir(mode=0o700)
    (tmp_path / "deep" / "file").touch(mode=0o640)
    (tmp_path / "program").touch()
    (tmp_path / "program").chmod(0o755)
    make_readable(tmp_path)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"deep": 0o755, "file": 0o644, "program": 0o755}


def test_an_output_that_is_no_folder_any_more_is_told(workspace: Workspace) -> None:
    workspace.out.rmdir()
    workspace.out.symlink_to(workspace.folder)
    taken = collect(workspace, LIMITS, WANTED, EXPECTED)
    assert taken == Collection(f"/out cannot be read: {os.strerror(errno.ENOTDIR)}", (), 0)
