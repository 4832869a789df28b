"""What a container leaves in /out can't lead the harness anywhere, block it, or stay behind."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine.leftovers import open_folder, remove_tree
from harness.execution.runs.request import Limits
from harness.execution.runs.user import ContainerUser
from harness.execution.runs.workspace import (
    Workspace,
    collect,
    make_readable,
    new_workspace,
    size_of,
    temporary_folders,
)
from tests.runs.helpers import ANSWER

LIMITS = Limits(seconds=1, memory_bytes=1, output_bytes=1000, output_files=50)
WANTED, EXPECTED = ANSWER["required"], ANSWER["expected"]
NOBODY = ContainerUser(65534, 65534, own=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "work", NOBODY)


def test_two_attempts_never_share_a_folder(tmp_path: Path) -> None:
    first, second = new_workspace(tmp_path, NOBODY), new_workspace(tmp_path, NOBODY)
    assert first.folder != second.folder and first.name != second.name
    # nor do two processes, each of which has a folder of its own
    assert first.name == f"{first.folder.parent.name}-{first.folder.name}" and first.folder.parent != tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_the_output_folder_belongs_to_the_runs_own_user(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path, ContainerUser(1_900_000_001, 1_900_000_002, own=True))
    state = workspace.out.stat()
    assert (state.st_uid, state.st_gid) == (1_900_000_001, 1_900_000_002)
    assert workspace.user.uid == 1_900_000_001 and workspace.folder.stat().st_mode & 0o077 == 0


def test_expected_files_are_copied_not_moved(workspace: Workspace) -> None:
    (workspace.out / "predictions.npy").write_bytes(b"abc")
    (workspace.out / "trace").mkdir()
    (workspace.out / "trace" / "W.npy").write_bytes(b"w")
    taken = collect(workspace, LIMITS, WANTED, EXPECTED, traces=True)
    assert (taken.fault, taken.bytes, taken.ignored) == ("", 4, ())
    assert (workspace.collected / "trace" / "W.npy").read_bytes() == b"w"
    assert (workspace.collected / "predictions.npy").stat().st_uid == os.geteuid()


@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "socket"])
def test_anything_but_a_regular_file_is_refused(workspace: Workspace, tmp_path: Path, kind: str) -> None:
    target = workspace.out / "predictions.npy"
    (tmp_path / "secret").write_text("secret")
    if kind == "link":
        target.symlink_to(tmp_path / "secret")
    elif kind == "dangling link":
        target.symlink_to("/nowhere")
    elif kind == "folder":
        target.mkdir()
    else:
        os.mknod(target, 0o140644)
    assert collect(workspace, LIMITS, WANTED, EXPECTED).fault.startswith("predictions.npy ")
    assert not list(workspace.collected.iterdir())


def test_a_pipe_is_refused_and_nobody_is_waited_for(workspace: Workspace) -> None:
    os.mkfifo(workspace.out / "predictions.npy")
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits for somebody who writes into it"))
    signal.alarm(20)
    try:
        fault = collect(workspace, LIMITS, WANTED, EXPECTED).fault
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert fault.startswith("predictions.npy ") and not list(workspace.collected.iterdir())


def test_a_trace_folder_that_is_a_link_is_ignored(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "W.npy").write_bytes(b"secret")
    (workspace.out / "trace").symlink_to(tmp_path / "other")
    taken = collect(workspace, LIMITS, (), EXPECTED, traces=True)
    assert taken.ignored == ("trace",) and not (workspace.collected / "trace").exists()


def test_traces_have_names_that_every_file_system_and_record_can_hold(workspace: Workspace) -> None:
    good = ("W.npy", "0.npy", "a-b.c_d.npy", f"{'a' * 101}.npy")
    bad = ("\u00e9.npy", "\u0663.npy", ".W.npy", "-W.npy", "a b.npy", "W.npz", "W.npy.txt", f"{'a' * 102}.npy")
    (workspace.out / "trace").mkdir()
    for name in (*good, *bad):
        (workspace.out / "trace" / name).write_bytes(b"w")
    taken = collect(workspace, LIMITS, (), EXPECTED, traces=True)
    assert {path.name for path in (workspace.collected / "trace").iterdir()} == {*good}
    assert {*taken.ignored} == {f"trace/{name}" for name in bad}


def test_a_trace_nobody_asked_for_is_named_and_left(workspace: Workspace) -> None:
    (workspace.out / "trace").mkdir()
    (workspace.out / "trace" / "W.npy").write_bytes(b"w")
    taken = collect(workspace, LIMITS, (), EXPECTED)
    assert (taken.ignored, taken.bytes) == (("trace",), 0) and not list(workspace.collected.iterdir())


def test_the_output_limit_is_one_for_all_files_together(workspace: Workspace) -> None:
    expected = ("first.npy", "second.npy", "third.npy")
    for name in expected:
        (workspace.out / name).write_bytes(bytes(400))
    taken = collect(workspace, LIMITS, (), expected)
    assert taken.fault == "third.npy is larger than the output limit" and taken.bytes == 800
    assert sorted(path.name for path in workspace.collected.iterdir()) == ["first.npy", "second.npy"]


def test_traces_share_the_output_limit_with_the_answer(workspace: Workspace) -> None:
    (workspace.out / "predictions.npy").write_bytes(bytes(400))
    (workspace.out / "trace").mkdir()
    for name in ("A.npy", "B.npy"):
        (workspace.out / "trace" / name).write_bytes(bytes(400))
    taken = collect(workspace, LIMITS, WANTED, EXPECTED, traces=True)
    assert taken.bytes == 800 and taken.ignored == ("trace/B.npy (is larger than the output limit)",)


@pytest.mark.parametrize("name", [".npy", ".hidden.npy", "-W.npy", "W.npz", "W.npy ", "ö.npy", "W" * 102 + ".npy"])
def test_a_trace_of_an_odd_name_is_named_and_left(workspace: Workspace, name: str) -> None:
    (workspace.out / "trace").mkdir()
    for one in (name, "W_1.b-c.npy", "W" * 101 + ".npy"):
        (workspace.out / "trace" / one).write_bytes(b"w")
    taken = collect(workspace, LIMITS, (), EXPECTED, traces=True)
    kept = sorted(path.name for path in (workspace.collected / "trace").iterdir())
    assert kept == sorted(["W_1.b-c.npy", "W" * 101 + ".npy"])
    assert (taken.ignored, taken.bytes) == ((f"trace/{name}",), 2)


def test_every_file_that_is_refused_is_told_and_else_the_first_that_is_missing_or_empty(
    workspace: Workspace,
) -> None:
    wanted = ("a.npy", "b.npy", "c.npy")
    (workspace.out / "a.npy").write_bytes(b"")
    assert collect(workspace, LIMITS, wanted, ()).fault == "a.npy is empty"
    (workspace.out / "c.npy").write_bytes(b"c")
    assert collect(workspace, LIMITS, wanted[::-1], ()).fault == "b.npy is missing"
    (workspace.out / "b.npy").write_bytes(bytes(1001))
    (workspace.out / "d.npy").mkdir()
    both = "b.npy is larger than the output limit; d.npy is not a regular file"
    assert collect(workspace, LIMITS, wanted, ("d.npy",)).fault == both


def test_output_beyond_the_limit_is_not_copied(workspace: Workspace) -> None:
    (workspace.out / "predictions.npy").write_bytes(bytes(1001))
    assert "larger than the output limit" in collect(workspace, LIMITS, WANTED, EXPECTED).fault


def test_a_name_that_is_no_text_is_shown_safely(workspace: Workspace) -> None:
    Path(os.fsdecode(os.fsencode(workspace.out) + b"/\xff\x1b[2J")).write_bytes(b"")
    (ignored,) = collect(workspace, LIMITS, (), EXPECTED).ignored
    assert ignored.encode("utf-8") and "\x1b" not in ignored


def test_of_many_long_names_that_are_not_asked_for_a_few_are_told_by_their_beginnings(
    workspace: Workspace,
) -> None:
    for number in range(23):
        (workspace.out / f"{number:02} {'n' * 200} end").write_bytes(b"")
    told = [f"{number:02} {'n' * 197}" for number in range(20)]
    assert collect(workspace, LIMITS, (), EXPECTED).ignored == (*told, "and 3 more")
    for number in range(20, 23):
        (workspace.out / f"{number:02} {'n' * 200} end").unlink()
    assert collect(workspace, LIMITS, (), EXPECTED).ignored == tuple(told)


def test_sparse_and_small_files_count_by_the_larger_of_both_sizes(workspace: Workspace) -> None:
    with (workspace.out / "sparse").open("wb") as stream:
        stream.truncate(1 << 30)
    assert size_of(workspace.out, most_files=10) == (1 << 30, 1)


def test_many_tiny_files_count_by_the_blocks_they_take(workspace: Workspace) -> None:
    for number in range(10):
        (workspace.out / str(number)).write_bytes(b"x")
    blocks = sum(path.stat().st_blocks * 512 for path in workspace.out.iterdir())
    if blocks <= 10:
        pytest.skip("this file system keeps tiny files without a block")
    assert size_of(workspace.out, most_files=20) == (blocks, 10)


def test_counting_stops_at_the_bound(workspace: Workspace) -> None:
    for number in range(20):
        (workspace.out / str(number)).touch()
    assert size_of(workspace.out, most_files=5)[1] == 6


def test_a_link_to_a_folder_counts_as_itself(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for number in range(5):
        (tmp_path / "elsewhere" / str(number)).write_bytes(bytes(5000))
    (workspace.out / "link").symlink_to(tmp_path / "elsewhere")
    total, entries = size_of(workspace.out, most_files=10)
    assert entries == 1 and total < 5000


def test_temporary_folders_are_all_gone_whatever_happened(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), temporary_folders(tmp_path, "one", "two") as folders:
        assert [folder.name.partition("-")[0] for folder in folders] == ["one", "two"]
        for folder in folders:
            (folder / "file").write_bytes(b"")
        raise ZeroDivisionError
    assert not any(folder.exists() for folder in folders)


def test_a_folder_deeper_than_any_path_is_measured_and_removed(workspace: Workspace) -> None:
    here = os.open(workspace.out, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    assert size_of(workspace.out, most_files=10_000)[1] == 10_001
    assert workspace.discard() == [] and not workspace.folder.exists()


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder of a user who may not overlook permissions, as root may; the test runs as that user."""
    folder = Path(tempfile.mkdtemp(prefix="permafrost-test-"))
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, 12345, 12345)
        os.seteuid(12345)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        shutil.rmtree(folder)


@pytest.fixture
def closed(ordinary_user: Path) -> Workspace:
    """A workspace whose container closed all that it wrote."""
    workspace = new_workspace(ordinary_user / "work", NOBODY)
    deep = workspace.out / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "hidden").write_bytes(bytes(5000))
    (workspace.out / "trace").mkdir()
    for path in (workspace.out / "predictions.npy", workspace.out / "trace" / "W.npy"):
        path.write_bytes(b"abc")
        path.chmod(0)
    for folder in (deep, deep.parent, workspace.out / "trace", workspace.out):
        folder.chmod(0)
    return workspace


def test_what_a_container_closed_is_read_like_anything_else(closed: Workspace) -> None:
    taken = collect(closed, LIMITS, WANTED, EXPECTED, traces=True)
    assert (taken.fault, taken.bytes, taken.ignored) == ("", 6, ("a",))
    assert (closed.collected / "trace" / "W.npy").read_bytes() == b"abc"
    # and is opened to its owner alone
    for path in (closed.out, *(closed.out / name for name in ("predictions.npy", "trace", "trace/W.npy"))):
        assert path.stat().st_mode & 0o077 == 0


def test_what_a_container_closed_counts_once_it_has_ended(closed: Workspace) -> None:
    assert size_of(closed.out, most_files=50) == (0, 0)
    total, entries = size_of(closed.out, most_files=50, ended=True)
    assert total >= 5000 and entries == 6


def test_what_a_container_closed_is_removed(closed: Workspace) -> None:
    assert closed.discard() == [] and not closed.folder.exists()


def test_a_folder_that_became_a_link_is_not_opened(ordinary_user: Path) -> None:
    (ordinary_user / "elsewhere").mkdir(mode=0)
    (ordinary_user / "link").symlink_to(ordinary_user / "elsewhere")
    with pytest.raises(OSError):
        open_folder(ordinary_user / "link")
    assert (ordinary_user / "elsewhere").stat().st_mode & 0o777 == 0
    (ordinary_user / "elsewhere").chmod(0o700)


def test_removal_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "file").touch()
    (tmp_path / "go").mkdir()
    (tmp_path / "go" / "link").symlink_to(tmp_path / "keep")
    (tmp_path / "go" / "closed").mkdir(mode=0)
    assert remove_tree(tmp_path / "go") == []
    assert (tmp_path / "keep" / "file").exists() and not (tmp_path / "go").exists()


def test_inputs_are_made_readable_but_links_are_left_alone(tmp_path: Path) -> None:
    inputs = tmp_path / "in"
    inputs.mkdir(mode=0o700)
    (inputs / "a").touch(mode=0o600)
    (tmp_path / "private").touch(mode=0o600)
    (inputs / "link").symlink_to(tmp_path / "private")
    make_readable(inputs)
    assert inputs.stat().st_mode & 0o777 == 0o755 and (inputs / "a").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
