from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.base import download as base_download
from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.images import archives
from harness.images.fetch import PartSources, export_parts, fetch_parts, find_sources
from harness.images.locks import Part
from harness.images.parts import checked_part, incoming, missing_parts, part_path

CONTENT = bytes(range(256)) * 5000
SHA = hashlib.sha256(CONTENT).hexdigest()
PART = Part("debian", "toy_1_all.deb", SHA, len(CONTENT), "pool/main/t/toy/toy_1_all.deb")


@dataclass
class Archive:
    """A web server that misbehaves as told."""

    url: str
    mode: str = "whole"
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    """An archive on this machine; the system's own apt is out of reach, proxies are too."""
    monkeypatch.setattr(archives, "apt_archives", list)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    told = Archive("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked_range = self.headers.get("Range", "")
            told.asked.append(asked_range)
            if told.mode == "gone" or self.path != f"/{PART.path}":
                self.send_error(404)
                return
            if told.mode.startswith("leads to "):
                self.send_response(302)
                self.send_header("Location", told.mode.removeprefix("leads to "))
                self.end_headers()
                return
            body = CONTENT if told.mode != "other" else CONTENT[::-1]
            if told.mode == "endless":
                self.send_response(200)
                self.end_headers()
                with suppress(OSError):
                    while True:
                        self.wfile.write(body)
            start = int(asked_range.removeprefix("bytes=").rstrip("-") or 0)
            self.send_response(206 if asked_range else 200)
            self.send_header("Content-Length", str(len(body) - start))
            if asked_range:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.end_headers()
            cut = told.mode == "cut" or (told.mode == "cut once" and not asked_range)
            self.wfile.write(body[start : len(body) // 2 if cut else None])

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield told
    server.shutdown()
    server.server_close()


@pytest.fixture
def empty(tmp_path: Path, repository: Layout) -> Layout:
    """A layout with an empty store of parts."""
    return Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")


def _left(layout: Layout) -> list[Path]:
    return [path for path in layout.parts.rglob("*") if path.is_file() and path.name != "owner.lock"]


def test_a_whole_file_is_kept_under_its_sha256(archive: Archive, empty: Layout) -> None:
    assert fetch_parts(empty, [PART, PART], PartSources(archives=[archive.url])) == 1
    assert checked_part(empty, PART).read_bytes() == CONTENT
    assert _left(empty) == [part_path(empty, PART)]
    assert fetch_parts(empty, [PART], PartSources(archives=[archive.url])) == 0
    assert len(archive.asked) == 1


def test_an_interrupted_transfer_goes_on_where_it_stopped(archive: Archive, empty: Layout) -> None:
    archive.mode = "cut once"
    fetch_parts(empty, [PART], PartSources(archives=[archive.url]))
    assert checked_part(empty, PART).read_bytes() == CONTENT
    assert archive.asked == ["", f"bytes={len(CONTENT) // 2}-"]


@pytest.mark.parametrize(
    ("mode", "error", "said"),
    [
        ("cut", MissingData, "cut: "),
        ("gone", MissingData, "404"),
        ("other", CorruptData, "not the file that was locked"),
        ("endless", MissingData, f"longer than the recorded {len(CONTENT)} bytes"),
        ("leads to ftp://127.0.0.1:9/toy.deb", MissingData, "leads to ftp://127.0.0.1:9/toy.deb"),
        ("leads to file:///etc/passwd", MissingData, "leads to file:///etc/passwd"),
    ],
)
def test_a_bad_source_leaves_nothing_and_says_what_to_do(
    archive: Archive, empty: Layout, mode: str, error: type[Exception], said: str
) -> None:
    archive.mode = mode
    with pytest.raises(error) as caught:
        fetch_parts(empty, [PART], PartSources(archives=[archive.url]))
    text = str(caught.value)
    assert said in text
    assert archive.url in text
    assert "to do: " in text
    assert _left(empty) == []


def test_a_server_that_never_ends_stops_where_no_size_is_locked_either(
    archive: Archive, empty: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_download, "MOST_BYTES", 3 * len(CONTENT))
    archive.mode = "endless"
    with pytest.raises(MissingData, match=f"longer than the limit of {3 * len(CONTENT)} bytes"):
        fetch_parts(empty, [replace(PART, size=None)], PartSources(archives=[archive.url]))
    assert _left(empty) == []


KILLED = """
import os, sys
from pathlib import Path
from harness.base.ownership import own_folder
folder = own_folder(Path(sys.argv[1])) / "tmp1"
folder.mkdir()
(folder / "half.deb").write_bytes(b"half")
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_fetch_left_is_removed_by_the_next(archive: Archive, empty: Layout) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(incoming(empty))])
    assert done.returncode == -signal.SIGKILL
    assert [path.name for path in _left(empty) if path.suffix == ".deb"] == ["half.deb"]
    fetch_parts(empty, [PART], PartSources(archives=[archive.url]))
    assert [path.name for path in _left(empty) if path.suffix == ".deb"] == []


def test_a_fetch_grows_in_a_folder_that_tells_whether_its_process_lives(archive: Archive, empty: Layout) -> None:
    folder = own_folder(incoming(empty))
    archive.mode = "gone"
    with pytest.raises(MissingData):
        fetch_parts(empty, [PART], PartSources(archives=[archive.url]))
    assert list(folder.iterdir()) == [folder / "owner.lock"]
    assert list(incoming(empty).iterdir()) == [folder]


def test_an_unreachable_source_is_told_from_a_missing_file(empty: Layout, archive: Archive) -> None:
    with pytest.raises(MissingData, match="can't be reached") as caught:
        fetch_parts(empty, [PART], PartSources(archives=["http://127.0.0.1:9"]))
    assert "$PERMAFROST_DEBIAN_MIRROR" in caught.value.todo
    assert _left(empty) == []


def test_the_next_source_is_asked_when_one_has_another_file(
    archive: Archive, empty: Layout, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / PART.file).write_bytes(CONTENT[:-1])
    fetch_parts(empty, [PART], PartSources(mirrors=[wrong], archives=[archive.url]))
    assert checked_part(empty, PART).read_bytes() == CONTENT


@pytest.mark.parametrize("place", [f"{SHA[:2]}/{SHA}", SHA, PART.path, PART.file])
def test_a_mirror_may_be_laid_out_by_sha256_as_the_archive_is_or_flat(
    empty: Layout, tmp_path: Path, place: str
) -> None:
    (tmp_path / "mirror" / place).parent.mkdir(parents=True)
    (tmp_path / "mirror" / place).write_bytes(CONTENT)
    assert fetch_parts(empty, [PART], PartSources(mirrors=[tmp_path / "mirror"], network=False)) == 1
    assert (tmp_path / "mirror" / place).read_bytes() == CONTENT


def test_without_a_network_only_folders_are_asked(archive: Archive, empty: Layout) -> None:
    with pytest.raises(MissingData, match="none of its sources"):
        fetch_parts(empty, [PART], PartSources(archives=[archive.url], network=False))
    assert archive.asked == []


def test_what_was_exported_serves_as_a_mirror(archive: Archive, empty: Layout, tmp_path: Path) -> None:
    fetch_parts(empty, [PART], PartSources(archives=[archive.url]))
    assert export_parts(empty, [PART], tmp_path / "kept") == 1
    assert export_parts(empty, [PART], tmp_path / "kept") == 0
    other = Layout(root=empty.root, cache=tmp_path / "other", local=empty.local)
    assert fetch_parts(other, [PART], PartSources(mirrors=[tmp_path / "kept"], network=False)) == 1


def test_a_part_that_changed_in_the_store_is_refused_when_it_is_used(archive: Archive, empty: Layout) -> None:
    fetch_parts(empty, [PART], PartSources(archives=[archive.url]))
    path = part_path(empty, PART)
    path.chmod(0o644)
    path.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(CorruptData, match="changed after it was fetched") as caught:
        checked_part(empty, PART)
    assert str(path) in str(caught.value)


def test_a_part_that_was_never_fetched_is_named(empty: Layout) -> None:
    with pytest.raises(MissingData, match=r"toy_1_all\.deb has not been fetched"):
        checked_part(empty, PART)


def test_what_is_missing_is_told_by_content_and_once(archive: Archive, empty: Layout) -> None:
    """Two packages may have files of one name, and one file may be a part of several images."""
    namesake, again = replace(PART, sha256="0" * 64), replace(PART, file="other.deb", path="other.deb")
    assert missing_parts(empty, [PART, namesake, PART]) == [PART, namesake]
    assert missing_parts(empty, [PART, again]) == [again]
    fetch_parts(empty, [PART], PartSources(archives=[archive.url]))
    assert missing_parts(empty, [PART, namesake, again]) == [namesake]


def test_sources_are_taken_from_options_and_variables(
    empty: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMAFROST_MIRROR", "/a:/b")
    monkeypatch.setenv("PERMAFROST_DEBIAN_MIRROR", "http://one.example/debian http://two.example/debian")
    found = find_sources(empty, [tmp_path])
    assert list(found.mirrors) == [tmp_path, Path("/a"), Path("/b")]
    assert list(found.archives) == ["http://one.example/debian", "http://two.example/debian"]
