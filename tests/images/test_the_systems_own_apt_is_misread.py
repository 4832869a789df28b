from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import MissingData
from harness.images import archives
from harness.images.locks import Part

CONTENT = b"a package"
PART = Part("debian", "toy_1_all.deb", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "pool/toy_1_all.deb")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with stand-ins for apt-get and apt-helper."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(archives, "_HELPERS", (str(tmp_path / "apt-helper"),))
    archives.apt_archives.cache_clear()
    yield tmp_path
    archives.apt_archives.cache_clear()


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_debians_archives_come_alone_where_there_are_others_too(programs: Path) -> None:
    _program(programs / "apt-helper", "exit 0")
    lines = [
        "Debian http://one.example/debian/",
        "Other http://two.example/apt",
        "Debian http://one.example/debian/",
    ]
    _program(programs / "apt-get", f"printf '{chr(10).join(lines)}\\n'")
    assert archives.apt_archives() == ["http://one.example/debian/"]


def test_an_archive_of_debian_is_known_by_its_address_where_it_does_not_say_whose_it_is(programs: Path) -> None:
    _program(programs / "apt-helper", "exit 0")
    _program(programs / "apt-get", "printf ' http://one.example/debian\\nOther http://two.example/apt\\n'")
    assert archives.apt_archives() == ["http://one.example/debian"]


def test_an_archive_whose_name_says_nothing_is_still_tried(programs: Path) -> None:
    _program(programs / "apt-helper", "exit 0")
    _program(programs / "apt-get", "echo ' http://mirror.example/pub/linux'")
    assert archives.apt_archives() == ["http://mirror.example/pub/linux"]


def test_without_apts_downloader_apt_is_no_source(programs: Path) -> None:
    _program(programs / "apt-get", "echo 'Debian http://one.example/debian'")
    assert archives.apt_archives() == []


def test_a_file_is_asked_for_by_its_path_and_sha256(programs: Path, tmp_path: Path) -> None:
    _program(
        programs / "apt-helper", f'echo "$@" > {tmp_path}/asked\nfor a; do case $a in *.deb) t=$a;; esac; done\n'
    )
    with pytest.raises(MissingData, match="apt can't download it"):
        archives.download_by_apt("http://one.example/debian/", replace(PART, size=None), tmp_path)
    asked = (tmp_path / "asked").read_text()
    assert f"http://one.example/debian/{PART.path} {tmp_path / PART.file} SHA256:{PART.sha256}" in asked


def test_what_apt_says_is_passed_on(programs: Path, tmp_path: Path) -> None:
    _program(programs / "apt-helper", "echo 'E: Failed to fetch: 404  Not Found' >&2; exit 100")
    with pytest.raises(MissingData, match="404  Not Found"):
        archives.download_by_apt("http://one.example/debian", PART, tmp_path)


def test_what_apt_downloaded_is_taken(programs: Path, tmp_path: Path) -> None:
    _program(programs / "apt-helper", f'for a; do case $a in {tmp_path}/*) printf "a package" > "$a";; esac; done')
    assert archives.download_by_apt("http://one.example/debian", PART, tmp_path).read_bytes() == CONTENT


def test_an_archive_that_never_ends_is_cut_off_at_the_locked_size(programs: Path, tmp_path: Path) -> None:
    _program(
        programs / "apt-helper", f'for a; do case $a in {tmp_path}/*) cat /dev/zero > "$a" || exit;; esac; done'
    )
    with pytest.raises(MissingData, match=f"longer than the locked {len(CONTENT)} bytes"):
        archives.download_by_apt("http://one.example/debian", PART, tmp_path)
    assert (tmp_path / PART.file).stat().st_size == len(CONTENT)
