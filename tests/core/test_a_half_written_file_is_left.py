"""A file or folder is whole under its name, or not there at all, and what failed is named."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.base.files import (
    checksum,
    digest_of,
    folder_in_the_making,
    read_json,
    sha256_of,
    write_atomic,
    write_json,
)
from harness.base.output_files import error_naming, write_output
from harness.base.plain_json import parse_plain, read_plain


@pytest.mark.parametrize("content", ["text ü\n", b"\x00\xff"])
def test_a_file_is_whole_readable_and_alone(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "below" / "file"
    for _ in range(2):
        write_atomic(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644 and [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("write", [write_atomic, write_output])
@pytest.mark.parametrize(("named", "expected"), [(None, "file"), ("another", "another")])
def test_a_full_disk_leaves_the_old_file_and_names_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path, str], None],
    named: str | None,
    expected: str,
) -> None:
    path = tmp_path / "file"
    write(path, "old")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", *([named] if named else []))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as failed:
        write(path, "new")
    assert Path(failed.value.filename).name == expected
    assert path.read_text() == "old" and [*tmp_path.iterdir()] == [path]
    with pytest.raises(OSError, match="No space left") as failed, error_naming(path):
        full(0)
    assert Path(failed.value.filename).name == expected


def test_whoever_stops_the_writing_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, "old")

    def pieces() -> Iterator[bytes]:
        yield b"half of the new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, pieces())
    assert path.read_text() == "old" and [*tmp_path.iterdir()] == [path]


def test_json_is_sorted_indented_and_strict(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_json(path, {"b": ["ü"], "a": None})
    assert path.read_text() == '{\n  "a": null,\n  "b": [\n    "ü"\n  ]\n}\n'
    assert read_json(path) == {"a": None, "b": ["ü"]}
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": None, "b": ["ü"]}


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', "[" * 100_000, "\udce9"])
def test_what_is_no_json_is_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "value.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert read_json(path) is None
    assert read_json(tmp_path / "none") is None and read_json(tmp_path) is None


def test_a_file_at_its_limit_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text(json.dumps("x" * 98))
    assert read_json(path, most_bytes=100) == "x" * 98 and read_json(path, most_bytes=99) is None
    path.write_text(json.dumps("x" * ((1 << 20) - 2)))
    assert read_json(path) is not None
    path.write_text(json.dumps("x" * ((1 << 20) - 1)))
    assert read_json(path) is None


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    final = tmp_path / "below" / "folder"
    with folder_in_the_making(final) as making:
        (making / "file").write_text("whole")
        assert not final.exists() and making.parent == final.parent
    assert (final / "file").read_text() == "whole" and [*final.parent.iterdir()] == [final]
    assert stat.S_IMODE(final.stat().st_mode) == 0o755


def test_a_folder_that_failed_never_was(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), folder_in_the_making(tmp_path / "folder") as making:
        (making / "file").write_text("half")
        raise RuntimeError
    assert [*tmp_path.iterdir()] == []


def test_who_comes_second_leaves_the_first(tmp_path: Path) -> None:
    final = tmp_path / "folder"
    with folder_in_the_making(final) as making:
        (making / "file").write_text("second")
        final.mkdir()
        (final / "file").write_text("first")
    assert (final / "file").read_text() == "first" and [*tmp_path.iterdir()] == [final]
    # a file in its place is no folder that somebody else made
    with pytest.raises(OSError), folder_in_the_making(tmp_path / "taken") as making:
        (making / "file").write_text("third")
        (tmp_path / "taken").write_text("a file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "taken"]


@pytest.mark.parametrize("place", [0, (1 << 20) - 1, 1 << 20, (5 << 19) - 1])
def test_every_byte_of_a_file_counts(tmp_path: Path, place: int) -> None:
    path = tmp_path / "file"
    content = bytearray(os.urandom(5 << 19))
    path.write_bytes(content)
    before = sha256_of(path)
    assert before == checksum(path) == hashlib.sha256(content).hexdigest()
    content[place] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(1, 1))
    assert sha256_of(path) == checksum(path) == hashlib.sha256(content).hexdigest() != before


def test_equal_values_have_one_digest_and_others_have_others() -> None:
    assert digest_of({"a": 1, "b": [1.5, "ü"]}) == digest_of({"b": [1.5, "ü"], "a": 1})
    values = [{}, [], "", None, 0, False, {"a": 1}, {"a": "1"}, {"a": [1]}, {"b": 1}, [1, 2], [2, 1], "ü", "u"]
    assert len({digest_of(value) for value in values}) == len(values)
    assert digest_of({"a": "ü"}) == hashlib.sha256('{"a":"ü"}'.encode()).hexdigest()
    with pytest.raises(ValueError, match="JSON compliant"):
        digest_of(float("nan"))


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "a": 2}}]', "NaN", '{"a": [Infinity]}', '{"a": -Infinity}', "{", ""],
)
def test_json_that_says_another_thing_to_another_reader_is_none(tmp_path: Path, text: str) -> None:
    """A name that stands twice, and numbers that no JSON has."""
    path = tmp_path / "scores.json"
    path.write_text(text)
    assert read_plain(path) is None
    with pytest.raises(ValueError, match=r"stands twice|is not JSON|Expecting"):
        parse_plain(text)


def test_json_is_plain_where_each_name_stands_once(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text('{"a": {"a": null}, "b": [{"a": 1.5}, {"a": "\u00fc"}]}')
    assert read_plain(path) == {"a": {"a": None}, "b": [{"a": 1.5}, {"a": "\u00fc"}]}
    size = path.stat().st_size
    assert read_plain(path, most_bytes=size) is not None and read_plain(path, most_bytes=size - 1) is None
    path.write_text("[" * 100_000)
    assert read_plain(path) is None
    assert read_plain(tmp_path / "none") is None and read_plain(tmp_path) is None
