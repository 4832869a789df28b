"""Nothing of a package runs on this machine, at lock or at fetch: it is root's in many places, and unseen code."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harness.base.errors import MissingData, UsageError
from harness.images.cards import WheelsPart
from harness.images.locks import Part
from harness.images.wheels import lock_wheels, pip_download

BACKEND = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """What the package writes wherever any code of it runs."""
    return tmp_path / "it-ran"


@pytest.fixture
def index(tmp_path: Path, mark: Path) -> Path:
    """A folder with a source distribution whose every door writes the mark, and whose PKG-INFO needs nothing."""
    folder = tmp_path / "index"
    inside = tmp_path / "evilpkg-0.1"
    inside.mkdir()
    folder.mkdir()
    code = f"open({str(mark)!r}, 'a').write('x')\n"
    (inside / "setup.py").write_text(f"{code}from setuptools import setup\nsetup(name='evilpkg', version='0.1')\n")
    (inside / "backend.py").write_text(code)
    (inside / "pyproject.toml").write_text(BACKEND)
    (inside / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: evilpkg\nVersion: 0.1\n")
    with tarfile.open(folder / "evilpkg-0.1.tar.gz", "w:gz") as archive:
        archive.add(inside, inside.name)
    return folder


@pytest.fixture
def served(index: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The package in an index of its own, as $PIP_INDEX_URL."""
    sha256 = hashlib.sha256((index / "evilpkg-0.1.tar.gz").read_bytes()).hexdigest()
    page = index / "simple" / "evilpkg" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="../../evilpkg-0.1.tar.gz#sha256={sha256}">evilpkg-0.1.tar.gz</a>')

    class Handler(SimpleHTTPRequestHandler):
        def end_headers(self) -> None:
            self.send_header("Cache-Control", "max-age=600")
            super().end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(index)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}/simple/"
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield url
    server.shutdown()
    server.server_close()


@pytest.fixture
def linked(index: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package in a folder, as $PIP_FIND_LINKS."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    return index


def _part(index: Path) -> Part:
    content = (index / "evilpkg-0.1.tar.gz").read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return Part("source", "evilpkg-0.1.tar.gz", sha256, len(content), "evilpkg==0.1")


@pytest.mark.parametrize("place", ["linked", "served"])
def test_fetching_a_source_distribution_runs_nothing_of_it(
    request: pytest.FixtureRequest, place: str, index: Path, mark: Path, tmp_path: Path
) -> None:
    request.getfixturevalue(place)
    found = pip_download(_part(index), tmp_path / "got")
    assert found.read_bytes() == (index / "evilpkg-0.1.tar.gz").read_bytes()
    assert not mark.exists()


@pytest.mark.parametrize("place", ["linked", "served"])
def test_locking_a_source_distribution_runs_nothing_of_it(
    request: pytest.FixtureRequest, place: str, index: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request.getfixturevalue(place)
    monkeypatch.setattr("harness.images.wheels._solution", lambda *_: [])
    asked = WheelsPart(from_source=["evilpkg==0.1"])
    (wheel,) = lock_wheels(asked, [], [], where="a test")
    assert (wheel.part.sha256, wheel.part.size) == (_part(index).sha256, _part(index).size)
    assert not mark.exists()


@pytest.mark.parametrize("requirement", ["evilpkg==0.1", "evilpkg @ file://{index}/evilpkg-0.1.tar.gz"])
def test_a_requirement_that_has_no_wheel_is_refused_and_not_built(
    index: Path, mark: Path, monkeypatch: pytest.MonkeyPatch, requirement: str
) -> None:
    pytest.importorskip("uv")
    monkeypatch.setenv("UV_FIND_LINKS", str(index))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    asked = WheelsPart(requirements=[requirement.format(index=index)])
    with pytest.raises(UsageError, match="no set of wheels"):
        lock_wheels(asked, [], [], where="a test")
    assert not mark.exists()


def test_a_source_that_is_longer_than_its_lock_is_cut_off(linked: Path, tmp_path: Path) -> None:
    part = replace(_part(linked), size=100)
    with pytest.raises(MissingData, match="longer than the locked 100 bytes"):
        pip_download(part, tmp_path / "got")


def test_an_index_page_that_is_longer_than_the_file_does_not_stop_it(
    served: str, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_TRUSTED_HOST", "127.0.0.1")
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip"))
    page, part = index / "simple" / "evilpkg" / "index.html", _part(index)
    page.write_text(f"{page.read_text()}<!-- {'other versions ' * 1000} -->")
    assert part.size is not None and part.size < page.stat().st_size
    assert pip_download(part, tmp_path / "got").stat().st_size == part.size


def test_an_index_whose_file_is_not_the_one_it_names_is_refused(served: str, index: Path, tmp_path: Path) -> None:
    part = _part(index)
    (index / "evilpkg-0.1.tar.gz").write_bytes(b"another")
    with pytest.raises(MissingData, match=r"can't download evilpkg==0\.1.*"):
        pip_download(part, tmp_path / "got")


def test_a_version_that_no_index_has_is_named(linked: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="no index has a source distribution of this version"):
        pip_download(replace(_part(linked), path="evilpkg==9"), tmp_path / "got")
