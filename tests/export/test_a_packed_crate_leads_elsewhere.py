"""What is packed unpacks as it was, and no packed crate leads out of its folder or fills a disk."""

from __future__ import annotations

import os
import shutil
import stat
import zipfile
from pathlib import Path
from typing import cast

import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.progress import Silent
from harness.export import archives
from harness.export.archives import unpacked, write_zip


class Notes(Silent):
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files: in a folder, one that may be executed, and one that is empty."""
    folder = tmp_path / "folder"
    (folder / "b").mkdir(parents=True)
    (folder / "empty").mkdir()
    for name, text, mode in (("b/text.md", "x" * 5000, 0o640), ("run.sh", "y", 0o700), ("a.json", "", 0o600)):
        (folder / name).write_text(text)
        (folder / name).chmod(mode)
    return folder


def test_a_packed_crate_holds_every_file_in_order_and_nothing_of_this_machine(
    folder: Path, tmp_path: Path
) -> None:
    notes = Notes()
    write_zip(folder, tmp_path / "one.zip", notes)
    assert notes.lines == ["compressing 3 files"]
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        found = [
            (one.filename, one.date_time, one.compress_type, one.external_attr >> 16, one.file_size)
            for one in archive.infolist()
        ]
        assert archive.read("b/text.md") == b"x" * 5000 and archive.testzip() is None
        assert archive.getinfo("b/text.md").compress_size < 100
    epoch, packed = (1980, 1, 1, 0, 0, 0), zipfile.ZIP_DEFLATED
    assert found == [
        ("a.json", epoch, packed, 0o644, 0),
        ("b/text.md", epoch, packed, 0o644, 5000),
        ("run.sh", epoch, packed, 0o755, 1),
    ]
    again = tmp_path / "other" / "folder"
    shutil.copytree(folder, again)
    for path in again.rglob("*"):
        os.utime(path, (1e9, 1e9))
    write_zip(again, tmp_path / "two.zip", Silent())
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "other", "one.zip", "two.zip"}


def test_a_failure_leaves_the_earlier_packed_crate(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crate.zip").write_text("earlier")

    def full_disk(*_: object) -> None:
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".crate.zip.")]
        raise OSError("no space left")

    monkeypatch.setattr(shutil, "copyfileobj", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_zip(folder, tmp_path / "crate.zip", Silent())
    assert {path.name: path.is_dir() or path.read_text() for path in tmp_path.iterdir()} == {
        "folder": True,
        "crate.zip": "earlier",
    }


def test_what_was_packed_unpacks_as_it_was(folder: Path, tmp_path: Path) -> None:
    write_zip(folder, tmp_path / "crate.zip", Silent())
    with unpacked(tmp_path / "crate.zip") as out:
        found = {
            path.relative_to(out).as_posix(): (path.read_text(), stat.S_IMODE(path.stat().st_mode))
            for path in out.rglob("*")
            if path.is_file()
        }
    assert found == {"a.json": ("", 0o644), "b/text.md": ("x" * 5000, 0o644), "run.sh": ("y", 0o755)}
    assert not out.exists()
    with unpacked(folder) as out:
        assert out == folder
    assert folder.is_dir()


def _zip(path: Path, *entries: tuple[str, int]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, mode in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, "text")
    return path


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([("a", 0o644), ("b/c", 0o755), ("b/", stat.S_IFDIR | 0o755), ("b/..c", 0o644)], ""),
        ([("a", stat.S_IFREG | 0o644)], ""),
        ([("a", 0o644), ("/b", 0o644)], "/b"),
        ([("a/../b", 0o644)], "a/../b"),
        ([("..", 0o644)], ".."),
        ([("b/..", 0o644)], "b/.."),
        ([("a", 0o644), ("b", stat.S_IFLNK | 0o777)], "b"),
        ([("a", 0o644), ("b", 0o644), ("a", 0o644)], "a"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_entry_leads_out_of_a_packed_crate(entries: list[tuple[str, int]], fault: str, tmp_path: Path) -> None:
    path = _zip(tmp_path / "crate.zip", *entries)
    if not fault:
        with unpacked(path) as out:
            assert (out / "a").read_text() == "text"
            assert {one.relative_to(out).as_posix() for one in out.rglob("*")} == {
                name.strip("/") for name, _ in entries
            } | {"b" for name, _ in entries if "/" in name}
        return
    with pytest.raises(CorruptData) as refused, unpacked(path):
        pass
    assert refused.value.what == f"the crate can't be unpacked: {fault} leads out of the crate, or stands twice"
    assert (refused.value.where, refused.value.todo) == (str(path), "get it again")
    assert [one.name for one in tmp_path.iterdir()] == ["crate.zip"]


def test_only_what_its_owner_may_run_may_be_run(tmp_path: Path) -> None:
    """Whoever packed a crate had other groups and users: nothing of theirs is taken over."""
    modes = {"a": 0o700, "b": 0o611, "c": 0o070, "d": 0o4777, "e": 0}
    with unpacked(_zip(tmp_path / "crate.zip", *modes.items())) as out:
        found = {name: stat.S_IMODE((out / name).stat().st_mode) for name in modes}
    assert found == {"a": 0o755, "b": 0o644, "c": 0o644, "d": 0o755, "e": 0o644}


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_crate_unpacks_to_a_tebibyte_at_most(more: int, fits: bool, tmp_path: Path) -> None:
    class Archive:
        def infolist(self) -> list[zipfile.ZipInfo]:
            one, two = zipfile.ZipInfo("a"), zipfile.ZipInfo("b")
            one.file_size, two.file_size = 2**40 - 7, 7 + more
            return [one, two]

        def extract(self, info: zipfile.ZipInfo, target: Path) -> str:
            raise InterruptedError(f"{info.filename} to {target}")

    expected = InterruptedError if fits else zipfile.BadZipFile
    with pytest.raises(expected) as raised:
        archives._unpack(cast(zipfile.ZipFile, Archive()), tmp_path)
    told = f"a to {tmp_path}" if fits else "it unpacks to more than 1099511627776 bytes"
    assert str(raised.value) == told


@pytest.mark.parametrize("what", ["cut", "text", "nothing", "pipe"])
def test_what_is_no_packed_crate_is_named(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crate.zip"
    if what == "cut":
        _zip(path, ("a", 0o644), ("b", 0o644))
        content = path.read_bytes()
        path.write_bytes(content.replace(b"text", b"tex!", 1))
        with pytest.raises(CorruptData, match=r"^.*the crate can't be unpacked: Bad CRC-32 for file 'a'"):  # noqa: SIM117
            with unpacked(path):
                pass
        return
    if what == "text":
        path.write_text("no zip")
    if what == "pipe":
        os.mkfifo(path)
        # to look into it would wait until somebody writes
        monkeypatch.setattr(zipfile, "is_zipfile", lambda opened: pytest.fail(f"{opened} was opened"))
    with pytest.raises(UsageError) as refused, unpacked(path):
        pass
    assert (refused.value.what, refused.value.where) == ("there is no crate", str(path))
    assert refused.value.todo == "name the folder or the .zip that `harness export` wrote"


def test_a_file_of_any_size_is_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file beyond 2 GiB the size must be known before it is packed: here beyond 1,000 bytes."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    (tmp_path / "folder").mkdir()
    content = bytes(number * number % 251 for number in range(5000))
    (tmp_path / "folder" / "large").write_bytes(content)
    write_zip(tmp_path / "folder", tmp_path / "crate.zip", Silent())
    with zipfile.ZipFile(tmp_path / "crate.zip") as archive:
        assert archive.read("large") == content
