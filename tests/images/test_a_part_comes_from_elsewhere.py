"""What is fetched, from where and in which order, kept and handed on, and what is said where it is not."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.images import archives, conda, fetch, parts, wheels
from harness.images.cards import (
    load_environment,
)
from harness.images.locks import Part
from harness.images.parts import admit, checked_part, incoming, part_path
from tests.core.word_for_word import said
from tests.images.programs import SHA
from tests.images.site import Site, sha_of


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


# what is kept in the store


def part_of(content: bytes, *, size: int | None = None, kind: Any = "debian", path: str = "pool/x_1.deb") -> Part:
    return Part(kind, "x_1.deb", sha_of(content), size, path)


@pytest.mark.parametrize(
    ("size", "why"),
    [
        (None, "its sha256 is {actual} instead of {wanted}"),
        (5, "its sha256 is {actual} instead of {wanted}"),
        (4, "it is 5 bytes long instead of 4"),
        (0, "it is 5 bytes long instead of 0"),
    ],
)
def test_a_download_that_is_another_is_deleted(site: Site, size: int | None, why: str) -> None:
    file = site.folder / "download"
    file.write_bytes(b"other")
    part = part_of(b"right", size=size)
    with pytest.raises(CorruptData) as refused:
        admit(site.layout, part, file)
    reason = why.format(actual=sha_of(b"other"), wanted=part.sha256)
    assert said(refused.value) == (
        f"x_1.deb is not the file that was locked: {reason}",
        "a download, now deleted (pool/x_1.deb)",
        "try another source (--mirror DIR); if all of them agree, it is the lock that was changed",
    )
    assert not file.exists() and not part_path(site.layout, part).exists()


def test_a_right_download_is_moved_and_nobody_writes_to_it(site: Site) -> None:
    file = site.folder / "download"
    file.write_bytes(b"right")
    part = part_of(b"right", size=7)
    with pytest.raises(MissingData) as missing:
        checked_part(site.layout, part)
    place = site.layout.parts / part.sha256[:2] / part.sha256
    assert said(missing.value) == (
        "x_1.deb has not been fetched",
        str(place),
        "run `harness image fetch` (needs a network)",
    )
    assert admit(site.layout, part, file) == place == checked_part(site.layout, part)
    assert place.read_bytes() == b"right" and place.stat().st_mode & 0o777 == 0o444 and not file.exists()
    place.chmod(0o644)
    place.write_bytes(b"wrong")
    with pytest.raises(CorruptData) as changed:
        checked_part(site.layout, part)
    assert said(changed.value) == (
        f"x_1.deb changed after it was fetched: sha256 {sha_of(b'wrong')} instead of {part.sha256}",
        str(place),
        "delete that file and run `harness image fetch` again",
    )


def test_a_download_is_on_the_disk_before_it_has_its_name(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a power cut leaves it whole or absent."""
    file, part, did = site.folder / "download", part_of(b"right"), list[object]()
    file.write_bytes(b"right")
    place = part_path(site.layout, part)
    monkeypatch.setattr(os, "fsync", lambda _: did.append(("file", place.exists())))
    monkeypatch.setattr(parts, "sync_folder", lambda folder: did.append((folder, place.exists())))
    admit(site.layout, part, file)
    assert did == [("file", False), (place.parent, True)]


# where parts come from


def test_downloads_grow_on_the_file_system_of_the_store(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    folders, part = list[Path](), part_of(b"right")

    def get(folder: Path) -> Path:
        folders.append(folder)
        (folder / "x").write_bytes(b"right")
        return folder / "x"

    monkeypatch.setattr(fetch, "_ways", lambda *_: [("here", get)])
    assert fetch.fetch_parts(site.layout, [part], fetch.PartSources()) == 1
    assert [folder.parent for folder in folders] == [own_folder(incoming(site.layout))]
    assert not folders[0].exists()


def test_four_are_fetched_at_a_time_and_none_behind_a_failure(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[object]()

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers: int) -> None:
            asked.append(workers)
            super().__init__(workers)

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            asked.append((wait, cancel_futures))
            super().shutdown(wait, cancel_futures=cancel_futures)

    def fail(*_: object) -> None:
        raise MissingData("it is nowhere")

    monkeypatch.setattr(fetch, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(fetch, "_fetch", fail)
    with pytest.raises(MissingData):
        fetch.fetch_parts(site.layout, [part_of(b"a"), part_of(b"b")], fetch.PartSources())
    assert asked == [4, (False, True), (True, False)]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    asked: list[object] = []

    def missing(name: str) -> Any:
        def get(*about: object) -> None:
            asked.append((name, *about[:-1]))
            raise MissingData(f"{name} has none")

        return get

    monkeypatch.setattr(archives, "download", missing("archive"))
    monkeypatch.setattr(archives, "download_by_apt", missing("apt"))
    monkeypatch.setattr(archives, "apt_archives", lambda: ["https://apt"])
    monkeypatch.setattr(wheels, "pip_download", missing("pip"))
    monkeypatch.setattr(conda, "channel_roots", lambda: ["https://conda/"])
    return asked


HINTS = {
    "debian": ", or the URL of a Debian archive or snapshot ($PERMAFROST_DEBIAN_MIRROR)",
    "wheel": ", or an index that pip knows (`pip config list`)",
    "source": ", or an index that pip knows (`pip config list`)",
    "conda": ", or the URL that your channels lie under ($PERMAFROST_CONDA_MIRROR)",
}
ORDER = {
    "debian": [
        ("https://a", "archive"),
        ("https://b", "archive"),
        ("apt: https://apt", "apt"),
        ("https://y", "archive"),
        ("https://z", "archive"),
    ],
    "wheel": [("pip", "pip")],
    "source": [("pip", "pip")],
    "conda": [("https://conda/", "archive")],
}
LOCAL = (
    ". Builds whose version has a '+' are kept in their publisher's own index, not in the public one: name that "
    "index in $PIP_EXTRA_INDEX_URL, or a folder that holds the file in $PIP_FIND_LINKS"
)


@pytest.mark.parametrize("kind", [*HINTS])
@pytest.mark.parametrize("path", ["x==1", "x==1+cpu"])
def test_every_source_is_tried_in_its_order_and_named(
    site: Site, ways: list[object], kind: Any, path: str
) -> None:
    part = part_of(b"right", kind=kind, path=path)
    mirrors = [site.folder / "m1", site.folder / "m2"]
    sources = fetch.PartSources(mirrors, ["https://a", "https://b"], ["https://y", "https://z"])
    with pytest.raises(MissingData) as failed:
        fetch.fetch_parts(site.layout, [part], sources)
    tried = [f"{mirror}: not there" for mirror in mirrors]
    tried += [f"{name}: {way} has none" for name, way in ORDER[kind]]
    assert said(failed.value) == (
        "x_1.deb is in none of its sources",
        "\n         ".join(tried),
        f"check the network, or give a folder that has it (--mirror DIR){HINTS[kind]}"
        f"{LOCAL if kind == 'wheel' and '+' in path else ''}; wanted: {path}, sha256 {part.sha256}",
    )
    names = [name.removeprefix("apt: ") for name, _ in ORDER[kind]]
    expected = [
        (way, *([] if way == "pip" else [name]), part) for name, (_, way) in zip(names, ORDER[kind], strict=True)
    ]
    assert ways == expected
    ways.clear()
    with pytest.raises(MissingData) as failed:
        fetch.fetch_parts(site.layout, [part], fetch.PartSources(network=False))
    assert failed.value.where == "no source is configured for it" and ways == []


def test_a_wrong_file_in_one_source_is_the_news_where_no_other_has_it(site: Site, ways: list[object]) -> None:
    part = part_of(b"right")
    for name in ("m1", "m2"):
        (site.folder / name).mkdir()
    (site.folder / "m1" / "x_1.deb").write_bytes(b"wrong")
    sources = fetch.PartSources([site.folder / "m1", site.folder / "m2"], network=False)
    with pytest.raises(CorruptData) as failed:
        fetch.fetch_parts(site.layout, [part], sources)
    what = f"x_1.deb is not the file that was locked: its sha256 is {sha_of(b'wrong')} instead of {part.sha256}"
    assert failed.value.what == what
    assert failed.value.where == f"{site.folder}/m1: {what}\n         {site.folder}/m2: not there"
    assert failed.value.todo.startswith("try another source (--mirror DIR)")
    (site.folder / "m2" / "x_1.deb").write_bytes(b"right")
    assert fetch.fetch_parts(site.layout, [part], sources) == 1


@pytest.mark.parametrize("place", ["{sha:.2}/{sha}", "{sha}", "pool/x_1.deb", "x_1.deb"])
def test_a_mirror_may_be_laid_out_in_four_ways(site: Site, place: str) -> None:
    part, mirror = part_of(b"right"), site.folder / "mirror"
    file = mirror / place.format(sha=part.sha256)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"right")
    seen: list[object] = []
    count = fetch.fetch_parts(
        site.layout,
        [part, part, part_of(b"right", size=5)],
        fetch.PartSources([mirror], network=False),
        progress=lambda *about: seen.append(about),
    )
    assert (count, seen) == (1, [(1, 1, part_of(b"right", size=5))])
    assert file.is_file() and checked_part(site.layout, part).read_bytes() == b"right"
    assert fetch.fetch_parts(site.layout, [part], fetch.PartSources(network=False)) == 0


def test_parts_are_exported_as_a_mirror(site: Site) -> None:
    both = [part_of(content) for content in (b"a", b"b")]
    for content in (b"a", b"b"):
        site.store(content)
    target = site.folder / "target"
    assert fetch.export_parts(site.layout, [*both, *both], target) == 2
    found = {
        path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*") if path.is_file()
    }
    assert found == {
        f"{part.sha256[:2]}/{part.sha256}": content for part, content in zip(both, (b"a", b"b"), strict=True)
    }
    (target / both[0].sha256[:2] / both[0].sha256).unlink()
    assert fetch.export_parts(site.layout, both, target) == 1
    assert fetch.export_parts(site.layout, both, target) == 0


def test_two_that_export_to_one_mirror_do_not_take_each_others_files(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.store(b"a")
    part, target, counts = part_of(b"a"), site.folder / "target", list[int]()

    def meanwhile(source: Path, place: Path) -> None:
        monkeypatch.setattr(shutil, "copyfile", copy)
        copy(source, place)
        counts.append(fetch.export_parts(site.layout, [part], target))

    copy = shutil.copyfile
    monkeypatch.setattr(shutil, "copyfile", meanwhile)
    assert (fetch.export_parts(site.layout, [part], target), counts) == (1, [1])
    (file,) = (path for path in target.rglob("*") if path.is_file())
    assert (file.name, file.read_bytes()) == (part.sha256, b"a")


def test_sources_are_found_where_they_are_said_to_be(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMAFROST_DEBIAN_MIRROR", " https://one  https://two ")
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    found = fetch.find_sources(repository, [tmp_path], network=False)
    fallbacks = load_environment(repository, "_base").card.debian.archives
    assert found == fetch.PartSources([tmp_path], ["https://one", "https://two"], fallbacks, network=False)
    monkeypatch.delenv("PERMAFROST_DEBIAN_MIRROR")
    assert fetch.find_sources(repository).archives == [] and fetch.find_sources(repository).network is True
    asked: list[object] = []
    monkeypatch.setattr(fetch, "fetch_parts", lambda *about, **how: asked.append((about, how)) or 7)  # type: ignore[func-returns-value]
    tell: Any = lambda *_: None  # noqa: E731
    supply = fetch.Supply([tmp_path], network=False, progress=tell)
    wanted = [part_of(b"a")]
    assert supply.fetch(repository, wanted) == 7
    sources = fetch.find_sources(repository, [tmp_path], network=False)
    assert asked == [((repository, wanted, sources), {"progress": tell})]
    assert SHA not in str(asked)
