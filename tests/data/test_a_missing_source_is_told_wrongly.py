"""What is said when no source has a file: each place, and only the remedies that there are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.data.manifest import FIRST_SEEN, SourceFile
from harness.data.sources import cache_path, check_file, local_copy, obtain, obtain_all
from tests.data.own_data import source
from tests.data.told import put

CONTENT = b"one\ntwo\n"
FILE = source(CONTENT, name="file.txt")
UNKNOWN = SourceFile(name="file.txt", urls=["https://example.org/file.txt"])
FORGET = "`harness data forget mine` takes it back"


@pytest.mark.parametrize("first_seen", [None, {}, {"other.txt": {}}, {"file.txt": {}}])
def test_a_content_can_be_taken_back_only_where_it_was_taken_on_trust(
    own: Layout, first_seen: dict[str, object] | None
) -> None:
    put(own.datasets / "mine" / "file.txt", b"damaged")
    if first_seen is not None:
        put(own.datasets / "mine" / FIRST_SEEN, json.dumps(first_seen).encode())
    with pytest.raises(CorruptData) as refused:
        obtain(own, "mine", FILE)
    assert refused.value.what == "no source of 'file.txt' (dataset mine) has the recorded content"
    assert refused.value.todo.startswith("remove or replace the damaged copy; ")
    assert (FORGET in refused.value.todo) is bool(first_seen and "file.txt" in first_seen)


def test_every_place_is_named_with_its_fault(own: Layout, tmp_path: Path) -> None:
    with pytest.raises(MissingData) as refused:
        obtain(own, "mine", FILE, [tmp_path / "mirror"])
    assert refused.value.what == "'file.txt' (dataset mine) is in none of its sources"
    assert f"{cache_path(own, FILE)}: no such file" in refused.value.where
    assert refused.value.todo.startswith("put the file beside its manifest")


def test_all_files_that_lack_a_whole_copy_are_told_at_once(own: Layout, tmp_path: Path) -> None:
    names = ["good.txt", "lost.txt", "cut.txt", "whole.txt", *(f"{number}.txt" for number in range(12))]
    files = [source(name.encode(), f"http://127.0.0.1:9/{name}", name=name) for name in names]
    folder = tmp_path / "mirror" / "127.0.0.1"
    for name, content in (("good.txt", b"good.txt"), ("cut.txt", b"cut"), ("whole.txt", b"whole.txt")):
        put(folder / name, content)
    with pytest.raises(MissingData) as refused:
        obtain_all(own, "mine", files, [tmp_path / "mirror"])
    assert refused.value.what == "'lost.txt' (dataset mine) is in none of its sources"
    *places, others = refused.value.where.splitlines()
    assert not any("cut.txt" in place for place in places)
    numbers = ", ".join(f"{number}.txt" for number in range(11))
    assert others.strip() == f"nor is a whole copy here of cut.txt, {numbers} and 1 more"
    # nothing more to tell of the last one, nor where the others are whole
    for some in (files[:2], [files[1], files[3]]):
        with pytest.raises(MissingData) as refused:
            obtain_all(own, "mine", some, [tmp_path / "mirror"])
        assert "nor is" not in refused.value.where
    copies = obtain_all(own, "mine", [files[0], files[3]], [tmp_path / "mirror"])
    assert copies == {"good.txt": folder / "good.txt", "whole.txt": folder / "whole.txt"}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (CONTENT, None),
        (b"one\ntwo", "7 bytes instead of 8: cut or changed"),
        (b"one\ntwo\nx", "9 bytes instead of 8: cut or changed"),
        (b"one\r\ntwo\r\n", "10 bytes instead of 8: "),
        (b"one\ntwO\n", f"sha256 is {hashlib.sha256(b'one' + bytes([10]) + b'twO' + bytes([10])).hexdigest()}, "),
    ],
)
def test_a_fault_says_how_a_file_differs(tmp_path: Path, content: bytes, fault: str | None) -> None:
    found = check_file(put(tmp_path / "file", content), FILE)
    assert found is None if fault is None else found is not None and found.startswith(fault)
    if content.count(b"\r"):
        assert found != "10 bytes instead of 8: cut or changed"


@pytest.mark.parametrize(("recorded", "copy"), [(b"a\nb\n", b"a\r\nb\r\n"), (b"a\r\nb\r\n", b"a\nb\n")])
def test_lines_with_other_ends_are_told_from_other_lines(tmp_path: Path, recorded: bytes, copy: bytes) -> None:
    wanted, size = source(recorded, name="file.txt"), f"{len(copy)} bytes instead of {len(recorded)}"
    assert check_file(put(tmp_path / "file", copy), wanted) == (
        f"{size}: the recorded lines with other line ends; copy it unconverted (with git: core.autocrlf=false)"
    )
    assert check_file(put(tmp_path / "file", copy.replace(b"b", b"c")), wanted) == f"{size}: cut or changed"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "is empty"),
        (b"x", None),
        (b" <not a page", None),
        (b"\xef\xbb\xbf\r\n <!DOCTYPE html>", "a web page (a log-in or an error page?), not the file"),
        (b"<HTML>", "a web page (a log-in or an error page?), not the file"),
        (b"\t<head>", "a web page (a log-in or an error page?), not the file"),
        (b"<body>", "a web page (a log-in or an error page?), not the file"),
        # so much of a file is looked at
        (b" " * 1019 + b"<html", "a web page (a log-in or an error page?), not the file"),
        (b" " * 1020 + b"<html", None),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "a pointer to a file in large file storage, not the file",
        ),
    ],
)
def test_a_file_of_unknown_content_can_be_no_page_and_no_pointer(
    tmp_path: Path, content: bytes, fault: str | None
) -> None:
    assert check_file(put(tmp_path / "file", content), UNKNOWN) == fault
    assert check_file(tmp_path / "none", UNKNOWN) == "can't be read: No such file or directory"


def test_a_file_of_any_other_content_is_another(tmp_path: Path) -> None:
    """Whatever its digest is compared with the recorded one: larger or smaller."""
    for letter in "abcdefgh":
        content = f"one\ntw{letter}\n".encode()
        fault = f"sha256 is {hashlib.sha256(content).hexdigest()}, not the recorded {FILE.sha256}"
        assert check_file(put(tmp_path / "file", content), FILE) == fault


def test_a_checksum_is_compared_to_its_last_digit(tmp_path: Path) -> None:
    path, digits = put(tmp_path / "file", CONTENT), FILE.sha256
    assert check_file(path, FILE) is None
    for other in (f"{digits[:-1]}{int(digits[-1], 16) ^ 1:x}", f"{int(digits[0], 16) ^ 1:x}{digits[1:]}"):
        changed = FILE.model_copy(update={"sha256": other})
        assert check_file(path, changed) == f"sha256 is {digits}, not the recorded {other}"


def test_a_copy_of_another_size_is_none_and_the_next_is_taken(own: Layout) -> None:
    mine = put(own.datasets / "mine" / "file.txt", b"longer than it was")
    assert local_copy(own, "mine", FILE) is None
    mine.write_bytes(b"cut")
    assert local_copy(own, "mine", FILE) is None
    cached = put(cache_path(own, FILE), CONTENT)
    assert local_copy(own, "mine", FILE) == cached
    mine.write_bytes(CONTENT)
    assert local_copy(own, "mine", FILE) == mine
    # of a file that nobody knows, any size will do
    mine = put(own.datasets / "mine" / "own" / "file.txt", b"cut")
    assert local_copy(own, "mine", UNKNOWN) == mine


def test_the_cache_keeps_known_and_unknown_files_apart(own: Layout) -> None:
    assert cache_path(own, FILE) == own.cache / "data" / FILE.sha256[:2] / FILE.sha256
    place = cache_path(own, UNKNOWN)
    assert place.parent == own.cache / "data" / "unknown"
    other = SourceFile(name="file.txt", urls=["https://example.org/other.txt"])
    assert cache_path(own, other) != place
    assert cache_path(own, UNKNOWN.model_copy(update={"name": "renamed.txt"})) == place
