"""`harness image outdated` finds what an archive has newer, and keeps silent about nothing it could not read."""

from __future__ import annotations

import gzip
import json
import lzma
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.layout import Layout
from harness.cli import group
from harness.images.cards import load_environment
from harness.images.locks import read_debian
from harness.materials.updates import compare_with_archives

FOLDER = "dists/{}/main/binary-amd64"


@pytest.fixture
def locked(repository: Layout) -> dict[str, str]:
    """The locked packages of the base."""
    path = load_environment(repository, "_base").lock_path("debian", "cpu")
    return {package.name: package.version for package in read_debian(path)}


def write_index(archive: Path, suite: str, versions: dict[str, str], ending: str = ".xz") -> None:
    text = "\n".join(f"Package: {name}\nArchitecture: amd64\nVersion: {v}\n" for name, v in versions.items())
    content = text.encode()
    if ending:
        content = lzma.compress(content) if ending == ".xz" else gzip.compress(content)
    folder = archive / FOLDER.format(suite)
    folder.mkdir(parents=True)
    (folder / f"Packages{ending}").write_bytes(content)


@pytest.fixture
def archive(tmp_path: Path, locked: dict[str, str]) -> Path:
    """An archive that has all as locked, but three packages newer and one not at all."""
    versions = {**locked, "bash": locked["bash"] + "+deb12u9", "tini": "0.1~older"}
    del versions["dash"]
    write_index(tmp_path / "archive", "bookworm", versions)
    write_index(tmp_path / "archive", "bookworm-updates", {"tzdata": "1", "sed": "99:1"}, ".gz")
    write_index(tmp_path / "archive", "bookworm-security", {"bash": "0.1", "libc6": "99:2.36"}, "")
    return tmp_path / "archive"


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(group, ["image", "outdated", *map(str, arguments)], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return int(done.return_value), done.output


def test_newer_and_secure_packages_are_told(repository: Layout, archive: Path, locked: dict[str, str]) -> None:
    comparison = compare_with_archives(repository, ["_base"], [str(archive)])
    assert [(one.name, one.newest, one.security) for one in comparison.newer] == [
        ("bash", locked["bash"] + "+deb12u9", ""),
        ("libc6", "99:2.36", "99:2.36"),
        ("sed", "99:1", ""),
    ]
    assert comparison.absent == ("dash",)
    assert comparison.packages == len(locked)
    code, text = run("_base", "--archive", archive)
    assert code == 1
    assert f"libc6 {locked['libc6']} -> 99:2.36  security 99:2.36  (_base)" in text
    assert "3 are newer there, 1 of them in a security suite; 1 are not there" in text


def test_newer_packages_that_are_no_security_updates_end_well(archive: Path, locked: dict[str, str]) -> None:
    (archive / FOLDER.format("bookworm-security") / "Packages").write_text("Package: bash\nVersion: 0.1\n")
    code, text = run("_base", "--archive", archive, "--json")
    assert code == 0
    assert [one["name"] for one in json.loads(text)["newer"]] == ["bash", "sed"]


def test_an_archive_without_security_updates_is_not_enough(archive: Path, tmp_path: Path) -> None:
    security = archive / "dists" / "bookworm-security"
    other = tmp_path / "security" / "dists"
    other.mkdir(parents=True)
    security.rename(other / "bookworm-security")
    with pytest.raises(MissingData, match="bookworm-security") as refusal:
        run("_base", "--archive", archive)
    assert refusal.value.exit_code == 4
    assert run("_base", "--archive", archive, "--archive", other.parent)[0] == 1


def test_an_empty_folder_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="has the suite bookworm"):
        run("_base", "--archive", tmp_path)
    with pytest.raises(MissingData, match="no folder and no URL"):
        run("_base", "--archive", tmp_path / "nothing")


def test_a_broken_index_is_no_empty_one(archive: Path) -> None:
    path = archive / FOLDER.format("bookworm") / "Packages.xz"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(CorruptData, match="an index can't be read"):
        run("_base", "--archive", archive)


@pytest.fixture
def url(archive: Path) -> Iterator[str]:
    """The archive, served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(archive))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_archive_by_url_is_the_same(repository: Layout, archive: Path, url: str) -> None:
    there = compare_with_archives(repository, ["_base"], [url + "/"])
    assert there == compare_with_archives(repository, ["_base"], [str(archive)])


def test_an_archive_that_can_not_be_reached_is_told(url: str) -> None:
    port = url.rpartition(":")[2]
    nowhere = f"http://127.0.0.1:{port}".replace(port, "9")
    with pytest.raises(MissingData, match="can't be reached") as refusal:
        run("_base", "--archive", nowhere)
    assert refusal.value.where.startswith(nowhere)


@pytest.mark.parametrize("arguments", [[], ["_base", "--all"]])
def test_it_must_be_said_which_images(arguments: list[str], archive: Path) -> None:
    with pytest.raises(UsageError):
        run(*arguments, "--archive", archive)
