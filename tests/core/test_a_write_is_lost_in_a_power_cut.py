"""What was written is on the disk before it has its name, and the name before anything rests on it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base import network_files
from harness.base.files import folder_in_the_making, write_atomic
from harness.base.large_files import file_in_the_making
from harness.base.network_files import clock_beside, look_anew, move
from harness.proof.log import Log


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What was written through to the disk, in its order."""
    paths: list[Path] = []

    def sync(handle: int) -> None:
        paths.append(Path(f"/proc/self/fd/{handle}").readlink())

    monkeypatch.setattr(os, "fsync", sync)
    return paths


def test_a_file_is_written_through_then_its_folder(synced: list[Path], tmp_path: Path) -> None:
    beside: list[str] = []

    def pieces() -> Iterator[bytes]:
        yield b"one "
        beside.extend(path.name for path in tmp_path.iterdir())
        yield b"two"

    write_atomic(tmp_path / "file", pieces())
    assert (tmp_path / "file").read_bytes() == b"one two"
    # beside it, so that the rename is one step, and out of sight until then
    assert len(beside) == 1 and beside[0].startswith(".file.")
    assert synced == [tmp_path / beside[0], tmp_path]


def test_a_file_of_another_library_is_written_through_then_its_folder(synced: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("earlier")
    with file_in_the_making(tmp_path / "file") as making:
        making.write_text("later")
        assert (tmp_path / "file").read_text() == "earlier" and making.name.startswith(".file.")
    assert synced == [making, tmp_path]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file": "later"}


def test_all_is_written_before_the_file_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: sizes.append(os.fstat(handle).st_size))
    write_atomic(tmp_path / "file", "x" * 100)
    assert sizes[0] == 100


def test_an_event_is_written_through_and_a_new_log_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[Path, int]] = []

    def sync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        synced.append((path, path.stat().st_size if path.is_file() else 0))

    monkeypatch.setattr(os, "fsync", sync)
    folder = tmp_path / "results"
    log = Log(folder)
    log.append_lines([])
    assert synced == [] and not folder.exists()
    log.append_lines([b"one"])
    log.append_lines([b"two", b"three"])
    assert synced == [(log.path, 4), (folder, 0), (log.path, 14)]


def test_pieces_that_end_in_a_fault_leave_nothing_and_are_told_as_they_are(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"one"
        raise KeyError("source")

    with pytest.raises(KeyError, match="source"):
        write_atomic(tmp_path / "file", pieces())
    assert [*tmp_path.iterdir()] == []


def test_every_folder_in_a_folder_is_written_through(synced: list[Path], tmp_path: Path) -> None:
    with folder_in_the_making(tmp_path / "whole") as making:
        (making / "a" / "b").mkdir(parents=True)
        (making / "a" / "file").touch()
        (making / "link").symlink_to(tmp_path)
        assert making.name.startswith(".whole.")
    assert sorted(synced) == sorted([making, making / "a", making / "a" / "b", tmp_path])
    assert synced[-1] == tmp_path, "its name last"


def test_who_comes_second_says_nothing_of_the_first(tmp_path: Path) -> None:
    with folder_in_the_making(tmp_path / "whole") as making:
        (making / "file").touch()
        (tmp_path / "whole").mkdir()
        (tmp_path / "whole" / "theirs").touch()
        (tmp_path / "whole").chmod(0o700)
    assert (tmp_path / "whole").stat().st_mode & 0o777 == 0o700


def test_the_clock_of_a_folder_is_the_one_that_dates_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert abs(clock_beside(tmp_path)) < 60 and [*tmp_path.iterdir()] == []
    really = time.time
    monkeypatch.setattr("harness.base.network_files.time.time", lambda: really() + 1000)
    assert 940 < clock_beside(tmp_path) < 1060
    with pytest.raises(FileNotFoundError):
        clock_beside(tmp_path / "none")


def test_a_failed_rename_is_judged_by_what_lies_there_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []

    def look(folder: Path) -> None:
        looked.append(folder)
        look_anew(folder)

    monkeypatch.setattr(network_files, "look_anew", look)
    (tmp_path / "ours").mkdir()
    # nothing lies there: whatever the rename failed for, it was not done before
    with pytest.raises(FileNotFoundError):
        move(tmp_path / "ours", tmp_path / "none" / "theirs")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "member").touch()
    with pytest.raises(OSError, match="not empty"):
        move(tmp_path / "ours", tmp_path / "there")
    assert looked == [tmp_path / "none", tmp_path]


@pytest.mark.parametrize("kind", ["file", "folder", "link to a file", "link to nothing"])
def test_a_rename_whose_answer_was_lost_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source, target, really = tmp_path / "source", tmp_path / "target", Path.rename
    (tmp_path / "elsewhere").touch()
    if kind == "folder":
        source.mkdir()
    elif kind == "file":
        source.touch()
    else:
        source.symlink_to(tmp_path / ("elsewhere" if kind == "link to a file" else "nothing"))

    def rename(path: Path, place: Path) -> None:
        really(path, place)
        really(path, place)

    monkeypatch.setattr(Path, "rename", rename)
    move(source, target)
    assert not source.is_symlink() and not source.exists()
    assert target.is_symlink() == kind.startswith("link") and target.is_dir() == (kind == "folder")
