"""Who ends leaves no empty folder and no lock that is held, and only what the harness made is called abandoned."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base import ownership
from harness.base.ownership import abandoned_folders, boot, is_owned, mount_space, own_folder, owner_of


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that owns nothing yet: what other tests own stays theirs."""
    monkeypatch.setattr(ownership, "_owned", {})


def _name(boot_id: str, rest: str = "abcd") -> str:
    return f"harness-{boot_id}-{mount_space()}-{rest}"


def test_a_folder_with_nothing_but_its_lock_goes_and_one_with_more_stays_free(alone: None, tmp_path: Path) -> None:
    empty, filled = own_folder(tmp_path / "one"), own_folder(tmp_path / "two")
    (filled / "run").mkdir()
    assert is_owned(Path(owner_of(empty))) and is_owned(Path(owner_of(filled)))
    open_files = len([*Path("/proc/self/fd").iterdir()])
    ownership._leave()
    assert not empty.exists() and (filled / "run").is_dir() and not is_owned(Path(owner_of(filled)))
    # by its lock whoever can't see that this process has ended knows it to be free
    assert Path(owner_of(filled)).is_file()
    assert len([*Path("/proc/self/fd").iterdir()]) == open_files - 2
    # it owns nothing any more: whoever goes on has another folder
    assert own_folder(tmp_path / "two") != filled
    ownership._leave()


def test_a_folder_that_somebody_removed_does_not_keep_the_others(alone: None, tmp_path: Path) -> None:
    gone, kept = own_folder(tmp_path / "one"), own_folder(tmp_path / "two")
    shutil.rmtree(gone)
    ownership._leave()
    assert not kept.exists()


def test_a_process_that_ends_leaves_nothing(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from harness.base.ownership import own_folder; "
    program += "print(own_folder(Path(sys.argv[1])).is_dir())"
    command = [sys.executable, "-c", program, str(tmp_path / "work")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "True\n"
    assert [*(tmp_path / "work").iterdir()] == []


def test_the_lock_is_named_as_its_folder_says_and_anybody_may_look(alone: None, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = own_folder(tmp_path / "deep" / "work")
    finally:
        os.umask(before)
    (lock,) = folder.iterdir()
    assert str(lock) == owner_of(folder) == f"{folder}/owner.lock"
    assert lock.stat().st_mode & 0o777 == 0o644
    assert folder.name.startswith(_name(Path("/proc/sys/kernel/random/boot_id").read_text()[:4], ""))
    assert f"mnt:[{int(mount_space(), 16)}]" == str(Path("/proc/self/ns/mnt").readlink())
    ownership._leave()


def test_a_folder_that_a_clean_up_took_before_it_was_locked_is_made_again(
    alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, taken = fcntl.flock, list[Path]()

    def lock(handle: int, how: int) -> None:
        if not taken:
            taken.append(Path(f"/proc/self/fd/{handle}").readlink().parent)
            shutil.rmtree(taken[0])
        really(handle, how)

    monkeypatch.setattr(fcntl, "flock", lock)
    open_files = len([*Path("/proc/self/fd").iterdir()])
    folder = own_folder(tmp_path)
    assert [*tmp_path.iterdir()] == [folder] and taken != [folder]
    assert is_owned(Path(owner_of(folder))) and len([*Path("/proc/self/fd").iterdir()]) == open_files + 1
    ownership._leave()


def test_a_child_that_lives_on_does_not_hold_its_parents_lock(tmp_path: Path) -> None:
    (waiting, release), (begun, begin) = os.pipe(), os.pipe()
    parent = os.fork()
    if parent == 0:
        own_folder(tmp_path)
        if os.fork() == 0:
            os.close(release)
            os.write(begin, b"!")
            os.read(waiting, 1)
        os._exit(0)
    os.waitpid(parent, 0)
    (folder,) = tmp_path.iterdir()
    try:
        # only a child that has begun can have let go
        assert os.read(begun, 1) == b"!"
        assert not is_owned(Path(owner_of(folder))) and abandoned_folders(tmp_path) == [folder]
    finally:
        for end in (release, waiting, begun, begin):
            os.close(end)


def test_only_folders_that_are_named_as_the_harness_names_them_are_abandoned(tmp_path: Path) -> None:
    other = "0000" if boot() != "0000" else "1111"
    ended = [_name(boot(), "b"), _name(boot(), "a"), _name(other)]
    # the lock of each is free
    for name in (*ended, "somebody-elses"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "owner.lock").touch()
    (tmp_path / _name(other, "file")).touch()
    found = [folder.name for folder in abandoned_folders(tmp_path)]
    assert found == sorted(ended)


def test_a_lock_that_can_not_be_opened_counts_as_held(tmp_path: Path) -> None:
    (tmp_path / _name(boot()) / "owner.lock").mkdir(parents=True)
    assert is_owned(tmp_path / _name(boot()) / "owner.lock") and abandoned_folders(tmp_path) == []
