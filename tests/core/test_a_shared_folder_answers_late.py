"""Over a network a rename fails that was done, names are remembered, locks end at a machine: no run is lost."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base import network_files
from harness.base.files import folder_in_the_making, write_atomic
from harness.base.network_files import is_there, locks_are_local, look_anew, move
from harness.base.ownership import abandoned_folders, boot, is_owned, mount_space, own_folder
from harness.base.vocabulary import Verdict
from harness.execution.errands import own_meaning, refusal
from harness.proof.leaves import Event
from harness.results.store import Store, StoredRun
from tests.core.factories import planned_job, put_run

LOST = [errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST]


@pytest.fixture(params=LOST, ids=errno.errorcode.get)
def lost_answers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Every rename is done, and its answer lost: asked again, it can't be done."""
    really = os.rename

    def rename(source: Path, target: Path) -> None:
        really(source, target)
        raise OSError(request.param, os.strerror(request.param), str(source))

    monkeypatch.setattr("os.rename", rename)
    return int(request.param)


def test_a_rename_that_was_done_has_not_failed(lost_answers: int, tmp_path: Path) -> None:
    write_atomic(tmp_path / "file", "text")
    assert (tmp_path / "file").read_text() == "text"
    with folder_in_the_making(tmp_path / "folder") as making:
        (making / "member").touch()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["file", "folder"]
    assert (tmp_path / "folder" / "member").is_file() and lost_answers
    # as one whose rename was answered at once
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o755


def test_a_run_whose_renames_were_answered_late_is_stored_once(lost_answers: int, tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job(1)
    put_run(store, planned, tmp_path / "one", Verdict.INTERRUPTED)
    put_run(store, planned, tmp_path / "two")
    assert store.standing(planned.key).verdict is Verdict.OK and lost_answers
    store.check(store.record(planned.key))
    assert [leaf.kind for leaf in store.log.leaves()] == [Event.FAILURE, Event.RECORD]
    store.remove(planned.key)
    assert store.standing(planned.key).verdict is Verdict.PENDING


@pytest.mark.parametrize("code", LOST, ids=errno.errorcode.get)
def test_a_rename_that_another_one_won_is_lost(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()

    def rename(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("os.rename", rename)
    with pytest.raises(OSError, match=os.strerror(code)):
        move(tmp_path / "ours", tmp_path / "theirs")
    assert (tmp_path / "ours" / "ours").is_file() and (tmp_path / "theirs" / "theirs").is_file()


def test_another_failure_of_a_rename_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").touch()
    (tmp_path / "two").hardlink_to(tmp_path / "one")

    def rename(*_: object) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr("os.rename", rename)
    with pytest.raises(OSError, match=os.strerror(errno.EDQUOT)):
        move(tmp_path / "one", tmp_path / "two")


def test_a_removal_that_was_done_has_not_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.unlink

    def unlink(path: Path, **where: int) -> None:
        really(path, **where)
        raise FileNotFoundError(errno.ENOENT, "gone", str(path))

    store, planned = Store(tmp_path / "runs"), planned_job(1)
    monkeypatch.setattr("os.unlink", unlink)
    with store.claim(planned.key) as mine:
        assert mine
    put_run(store, planned, tmp_path / "one")
    assert [leaf.kind for leaf in store.log.leaves()] == [Event.RECORD]
    assert not (tmp_path / "log.next").exists()


def test_a_run_of_another_machine_is_seen_although_its_absence_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS remembers for up to a minute which names a folder has not, unless it is opened."""
    store, planned = Store(tmp_path / "runs"), planned_job(1)
    put_run(store, planned, tmp_path / "one")
    first, really = store.record(planned.key), Store.standing
    shelf, opened = store.path(planned.key).parent, list[Path]()

    def look(folder: Path) -> None:
        opened.append(folder)
        look_anew(folder)

    def remembered(self: Store, key: str) -> StoredRun:
        if shelf not in opened:
            return StoredRun(Verdict.PENDING, "", {})
        return really(self, key)

    monkeypatch.setattr("harness.results.store.look_anew", look)
    monkeypatch.setattr(Store, "standing", remembered)
    put_run(store, planned, tmp_path / "two")
    assert store.record(planned.key) == first
    assert len(store.log.leaves()) == 1
    # and the names of the log and of what a killed harness had begun
    assert {store.folder, store.folder.parent} <= set(opened)


def test_a_wish_is_heard_although_its_file_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: True)
    assert not is_there(tmp_path / "gone")
    (tmp_path / "there").touch()
    assert is_there(tmp_path / "there")


@pytest.mark.parametrize(("code", "there"), [(errno.ESTALE, False), (errno.EACCES, True)])
def test_a_file_of_a_stale_handle_is_gone_and_one_that_may_not_be_read_is_not(
    code: int, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("os.open", refuse)
    assert is_there(tmp_path / "file") is there


def test_a_broken_file_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(OSError, match="Input/output"):
        is_there(tmp_path / "file")


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def mount(options: str, place: Path = tmp_path) -> None:
        escaped = str(place).replace(" ", "\\040")
        lines = ("root / ext4 rw,relatime 0 0", f"server:/export {escaped} nfs4 {options} 0 0", "")
        (tmp_path / "mounts").write_text("\n".join(lines))
        monkeypatch.setattr(network_files, "_MOUNTS", tmp_path / "mounts")

    return mount


@pytest.mark.parametrize(
    ("options", "local"),
    [
        ("rw,vers=4.2,local_lock=none", False),
        ("rw,vers=3,nolock,local_lock=all", True),
        ("rw,vers=3,local_lock=flock", True),
        ("rw,vers=3,local_lock=posix", False),
        ("rw,localflock", True),
    ],
)
def test_locks_that_end_at_a_machine_are_known_by_its_mounts(
    options: str, local: bool, tmp_path: Path, mounted: Callable[..., None]
) -> None:
    mounted(options, tmp_path / "a b")
    (tmp_path / "a b").mkdir()
    assert locks_are_local(tmp_path / "a b" / "file") is local
    # what lies beside it is of the disk
    assert not locks_are_local(tmp_path / "file")


def test_a_folder_of_another_machine_is_not_taken_for_abandoned_where_locks_do_not_reach(
    tmp_path: Path, mounted: Callable[..., None]
) -> None:
    other = "0000" if boot() != "0000" else "1111"
    theirs = tmp_path / f"harness-{other}-{mount_space()}-abcd"
    ours = tmp_path / f"harness-{boot()}-{mount_space()}-abcd"
    for folder in (theirs, ours):
        folder.mkdir()
        (folder / "owner.lock").touch()
    mounted("rw,local_lock=none")
    assert abandoned_folders(tmp_path) == sorted([theirs, ours])
    mounted("rw,local_lock=all")
    assert abandoned_folders(tmp_path) == [ours], "only who is here can tell whether it is held"


def test_a_worker_whose_locks_keep_nobody_out_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = own_folder(tmp_path) / "wanted"
    assert is_owned(wanted.parent / "owner.lock")
    assert refusal(wanted, own_meaning()) == ""
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    assert "locks of the folder of results are not seen" in refusal(wanted, own_meaning())
