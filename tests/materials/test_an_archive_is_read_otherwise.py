"""Which of an archive's versions count, for which suite, and what is said where an archive can't be read."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.download import Refused
from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.materials import updates
from harness.materials.updates import ArchiveComparison, NewerPackage, compare_with_archives

SUITES = ("bookworm", "bookworm-updates", "bookworm-security", "trixie", "trixie-updates", "trixie-security")
LOCKED = {
    "_base": ("bookworm", {"bash": "5.2", "dash": "1.0"}),
    "_python": ("bookworm", {"bash": "5.2", "python": "3.11"}),
    "_next": ("trixie", {"bash": "5.3"}),
}
CHAINS = {"one": ["_base", "_python"], "two": ["_base", "_next"]}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with nothing in it, and a repository that locks what `LOCKED` says."""

    def chain(_layout: Layout, name: str) -> list[Any]:
        return [
            SimpleNamespace(
                name=one, card=SimpleNamespace(debian=SimpleNamespace(suite=LOCKED[one][0])), locked=LOCKED[one][1]
            )
            for one in CHAINS[name]
        ]

    def packages(environments: list[Any]) -> list[Any]:
        return [
            SimpleNamespace(name=name, version=version)
            for one in environments
            for name, version in one.locked.items()
        ]

    monkeypatch.setattr(updates, "environment_chain", chain)
    monkeypatch.setattr(updates, "held_packages", packages)
    for suite in SUITES:
        write(tmp_path / "archive", suite, {})
    return tmp_path / "archive"


def write(archive: Path, suite: str, versions: Mapping[str, str], more: str = "") -> Path:
    """Write an index as it is; `more` comes last."""
    folder = archive / "dists" / suite / "main" / "binary-amd64"
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"Package: {name}\nVersion: {version}\n\n" for name, version in versions.items())
    (folder / "Packages").write_text(text + more)
    return folder


def compared(layout: Layout, *archives: Path | str, names: tuple[str, ...] = ("one",)) -> ArchiveComparison:
    return compare_with_archives(layout, names, [str(archive) for archive in archives])


def test_every_version_is_held_against_all_suites(repository: Layout, archive: Path, tmp_path: Path) -> None:
    write(archive, "bookworm", {"bash": "5.2", "dash": "1.0", "python": "3.11"})
    write(archive, "bookworm-updates", {"bash": "5.3.1"})
    write(archive, "bookworm-security", {"bash": "5.2.9", "dash": "1.0", "python": "3.10"})
    write(archive, "trixie", {"bash": "5.4"})
    other = tmp_path / "other"
    write(other, "bookworm", {"dash": "1.1"})
    assert compared(repository, archive, other, names=("two", "one")) == ArchiveComparison(
        packages=4,
        newer=(
            # of all suites of all environments the newest
            NewerPackage("bash", "5.2", "5.4", "5.2.9", ("_base", "_python")),
            NewerPackage("bash", "5.3", "5.4", "", ("_next",)),
            NewerPackage("dash", "1.0", "1.1", "", ("_base",)),
        ),
        absent=(),
        suites=tuple(sorted(SUITES)),
    )


def test_what_no_suite_has_is_absent(repository: Layout, archive: Path) -> None:
    write(archive, "bookworm-updates", {"python": "3.9"})
    comparison = compared(repository, archive)
    assert (comparison.absent, comparison.newer, comparison.packages) == (("bash", "dash"), (), 3)
    assert comparison.suites == ("bookworm", "bookworm-security", "bookworm-updates")


@pytest.mark.parametrize("order", [("5.10", "5.9"), ("5.9", "5.10")])
def test_of_two_versions_in_one_index_the_newer_counts(
    repository: Layout, archive: Path, order: tuple[str, str]
) -> None:
    more = "".join(f"Package:  bash \nVersion:  {version} \nSource: x\n\n" for version in order)
    write(archive, "bookworm", {"python": "3.11", "dash": "0.9"}, more)
    (newer,) = compared(repository, archive).newer
    assert (newer.name, newer.newest) == ("bash", "5.10")


def test_a_letter_that_can_not_be_read_hides_no_package(repository: Layout, archive: Path) -> None:
    path = write(archive, "bookworm", {"bash": "5.9"}) / "Packages"
    path.write_bytes(b"Description: \xff\n" + path.read_bytes())
    assert [one.name for one in compared(repository, archive).newer] == ["bash"]


@pytest.mark.parametrize("extension", ["", "-security"])
def test_a_suite_that_nobody_has_is_named(
    repository: Layout, archive: Path, tmp_path: Path, extension: str
) -> None:
    (archive / "dists" / f"bookworm{extension}").rename(tmp_path / "away")
    with pytest.raises(MissingData) as refusal:
        compared(repository, archive, tmp_path)
    assert refusal.value.what == f"no archive that was named has the suite bookworm{extension}"
    assert refusal.value.where == f"{archive}, {tmp_path}"
    assert refusal.value.todo == (
        "name the archive that has it too: --archive may be repeated, and Debian keeps security updates in an "
        "archive of their own"
    )


def test_updates_may_be_missing(repository: Layout, archive: Path, tmp_path: Path) -> None:
    (archive / "dists" / "bookworm-updates").rename(tmp_path / "away")
    assert compared(repository, archive).suites == ("bookworm", "bookworm-security")


@pytest.mark.parametrize("host", ["", "localhost"])
def test_a_folder_by_its_url_is_that_folder(repository: Layout, archive: Path, tmp_path: Path, host: str) -> None:
    write(archive, "bookworm", {"bash": "5.9"})
    moved = archive.rename(tmp_path / "the archive")
    url = moved.as_uri().replace("file://", f"file://{host}")
    assert "%20" in url and compared(repository, url) == compared(repository, moved)
    with pytest.raises(MissingData, match="the archive is no folder and no URL") as refusal:
        compared(repository, f"{url}/none")
    assert refusal.value.where == f"{moved}/none"


def test_a_folder_that_is_none_is_told(repository: Layout, archive: Path) -> None:
    with pytest.raises(MissingData, match="the archive is no folder and no URL") as refusal:
        compared(repository, archive / "none")
    assert refusal.value.where == str(archive / "none")
    assert refusal.value.todo == "name a folder that has dists/, or a URL"


@pytest.mark.parametrize(
    ("ending", "content"),
    [
        (".xz", b"\x1f\x8bno"),
        (".gz", b"\x1f\x8bno"),
        # what a server sends in the place of a file
        (".gz", b"<html>\n<p>No such file here</p>\n</html>\n"),
        # behind a sound head
        (".gz", gzip.compress(b"Package: bash\n", mtime=0)[:10] + b"\xff" * 20),
        # whole, and no index
        ("", b"<html>\n<p>Package: log in to see it</p>\n</html>\n"),
        (".gz", gzip.compress(b"Version: 5.9\n", mtime=0)),
    ],
)
def test_an_index_that_is_cut_or_none_is_told(
    repository: Layout, archive: Path, ending: str, content: bytes
) -> None:
    folder = write(archive, "bookworm", {})
    (folder / "Packages").rename(folder / f"Packages{ending}")
    (folder / f"Packages{ending}").write_bytes(content)
    with pytest.raises(CorruptData, match="an index can't be read: ") as refusal:
        compared(repository, f"{archive}/")
    assert refusal.value.where == f"{folder}/Packages{ending}"
    assert refusal.value.todo == "try another archive"


def test_a_web_archive_is_asked_for_each_kind_of_index(
    repository: Layout, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def transfer(url: str, path: Path, *, resume: bool) -> Path:
        assert not resume
        asked.append(url)
        if not url.endswith("Packages"):
            raise Refused("status 404: not found" if url.endswith(".xz") else "status 403: forbidden")
        path.write_bytes((archive / url.removeprefix("https://deb.example/debian/")).read_bytes())
        return path

    monkeypatch.setattr(updates, "transfer", transfer)
    assert compared(repository, "https://deb.example/debian/") == compared(repository, archive)
    index = "https://deb.example/debian/dists/bookworm/main/binary-amd64/Packages"
    assert asked[:3] == [f"{index}.xz", f"{index}.gz", index] and len(asked) == 9


def test_a_web_archive_that_fails_is_no_empty_one(
    repository: Layout, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def transfer(*_: object, **__: object) -> Path:
        raise Refused("status 500: broken")

    monkeypatch.setattr(updates, "transfer", transfer)
    with pytest.raises(MissingData) as refusal:
        compared(repository, "https://deb.example/debian/")
    assert refusal.value.what == "an archive can't be read: status 500: broken"
    assert refusal.value.where == ("https://deb.example/debian/dists/bookworm/main/binary-amd64/Packages.xz")
    assert refusal.value.todo == "check the network and the URL, or name a folder with a copy of its dists/"
