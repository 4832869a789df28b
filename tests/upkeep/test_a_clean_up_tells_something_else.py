"""What a clean-up says of each thing: its kind, its name, how large it was, and why it stayed."""

from __future__ import annotations

import os
import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from docker.errors import APIError

from harness.base.layout import Layout
from harness.engine import Engine
from harness.study.cache import _FOLDER
from harness.upkeep.clean import Removal, clean, folder_removal
from tests.conftest import REPOSITORY

# the package shows a function of the same name
cleaning = import_module("harness.upkeep.clean")

ORPHAN = SimpleNamespace(container="0123456789abcdef", state="exited", run="run-7")


class FakeImages:
    """An engine with images, one of which is in use."""

    def __init__(self, *images: dict[str, Any]) -> None:
        self.api = self
        self.name = "podman"
        self._images = images
        self.removed: list[str] = []

    def images(self) -> list[dict[str, Any]]:
        return list(self._images)

    def remove_image(self, name: str) -> None:
        if "in-use" in name:
            raise APIError("conflict", explanation="a container uses it")
        self.removed.append(name)


def cleaned(layout: Layout, engine: object, **choices: bool) -> list[Removal]:
    return list(clean(layout, cast(Engine, engine), **choices))


@pytest.fixture
def without_orphans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "find_orphans", lambda _engine: [])


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_container_without_an_owner_goes(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
) -> None:
    discarded: list[str] = []
    monkeypatch.setattr(cleaning, "find_orphans", lambda _engine: [ORPHAN])
    monkeypatch.setattr(cleaning, "discard_container", lambda _engine, container: discarded.append(container))
    assert cleaned(layout, FakeImages(), dry_run=dry_run) == [
        Removal("container", "0123456789ab (exited) of run run-7")
    ]
    assert discarded == ([] if dry_run else [ORPHAN.container])


@pytest.mark.usefixtures("without_orphans")
def test_images_go_newest_first_and_what_is_used_stays(layout: Layout) -> None:
    engine = FakeImages(
        {"Id": "sha256:base", "RepoTags": ["permafrost/_base:1"], "Created": 1, "Size": 10},
        {
            "Id": "sha256:tests",
            "RepoTags": ["permafrost-test/x:1", "permafrost-test/x:2"],
            "Created": 3,
            "Size": 20,
        },
        {"Id": "sha256:used", "RepoTags": ["permafrost/in-use:1"], "Created": 2},
        {"Id": "sha256:" + "f" * 64, "RepoTags": ["<none>:<none>"], "Labels": {"permafrost": "x"}, "Size": 5},
        # of others, though their names hold ours
        {"Id": "sha256:other", "RepoTags": ["their/permafrost/x:1"], "Created": 9, "Size": 99},
        {"Id": "sha256:database", "RepoTags": ["permafrost-db/x:1", "permafrosted:1"], "Created": 9, "Size": 99},
        {"Id": "sha256:nobody", "RepoTags": None, "Labels": None, "Created": None, "Size": 99},
    )
    assert cleaned(layout, engine, images=True) == [
        Removal("image", "permafrost-test/x:1, permafrost-test/x:2", 20),
        Removal("image", "permafrost/in-use:1", 0, "a container uses it"),
        Removal("image", "permafrost/_base:1", 10),
        Removal("image", "sha256:ffffffffffff", 5),
    ]
    assert engine.removed == [
        "permafrost-test/x:1",
        "permafrost-test/x:2",
        "permafrost/_base:1",
        "sha256:" + "f" * 64,
    ]
    engine.removed.clear()
    before = cleaned(layout, engine, images=True, dry_run=True)
    assert [one.fault for one in before] == [""] * 4 and engine.removed == []
    assert cleaned(layout, engine) == []


def test_a_folder_is_measured_by_its_blocks_and_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "large").write_bytes(b"x" * 100_000)
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "one").write_bytes(b"x")
    (folder / "below" / "two").write_bytes(b"x" * 10_000)
    (folder / "link").symlink_to(outside)
    blocks = sum((folder / name).lstat().st_blocks * 512 for name in ("one", "below/two"))
    assert blocks >= 10_001
    assert folder_removal("cache", folder, dry_run=True) == Removal("cache", str(folder), blocks)
    assert folder.exists()
    assert folder_removal("cache", folder, dry_run=False) == Removal("cache", str(folder), blocks)
    assert not folder.exists() and (outside / "large").exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_folder_goes_by_itself(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    path = tmp_path / "path"
    if kind == "file":
        path.write_bytes(b"x" * 321)
    else:
        path.symlink_to(target)
    assert folder_removal("cache", path, dry_run=False) == Removal(
        "cache", str(path), 321 if kind == "file" else len(os.fspath(target))
    )
    assert not path.is_symlink() and not path.exists() and target.is_dir()


def test_of_many_faults_three_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "remove_stubborn", lambda _path: ["a", "b", "c", "d"])
    assert folder_removal("cache", tmp_path, dry_run=False).fault == "a; b; c"


def test_the_cache_goes_in_one_order_and_old_datasets_with_it(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    old = tmp_path / "old+1"
    for name in ("splits", "data", "engine", "parts", "apt", "datasets", "of somebody else"):
        (layout.cache / name).mkdir(parents=True)
    old.mkdir()
    asked = []

    def left_over(given: Layout) -> list[Path]:
        asked.append(given)
        return [old]

    monkeypatch.setattr(cleaning, "left_over", left_over)
    wanted = [
        *(Removal("cache", str(layout.cache / name)) for name in ("apt", "data", "datasets", "parts", "splits")),
        Removal("extended dataset", str(old)),
    ]

    def without_sizes(removals: list[Removal]) -> list[Removal]:
        return [Removal(one.kind, one.name, 0, one.fault) for one in removals]

    assert list(clean(layout, None)) == [] and asked == []
    assert without_sizes(list(clean(layout, None, cache=True, dry_run=True))) == wanted and old.is_dir()
    assert without_sizes(list(clean(layout, None, cache=True))) == wanted
    assert {path.name for path in layout.cache.iterdir()} == {"engine", "of somebody else"} and not old.exists()
    assert asked == [layout, layout]


@pytest.mark.usefixtures("without_orphans")
def test_an_engine_that_gives_no_reason_is_told_all_the_same(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeImages({"Id": "sha256:used", "RepoTags": ["permafrost/x:1"], "Created": 2, "Size": 3})

    def refuse(_name: str) -> None:
        raise APIError("409 conflict")

    monkeypatch.setattr(engine, "remove_image", refuse)
    assert cleaned(layout, engine, images=True) == [Removal("image", "permafrost/x:1", 3, "409 conflict")]


def test_all_that_the_harness_caches_is_known_to_the_clean_up() -> None:
    modules = [path for folder in ("harness", "scripts") for path in (REPOSITORY / folder).rglob("*.py")]
    texts = [path.read_text() for path in modules if "inside" not in path.parts]
    named = re.compile(r'\b(?:layout|self)\.cache / (?:"(\w+)"|(_FOLDER))')
    names = {match[1] or _FOLDER for text in texts for match in named.finditer(text)}
    assert names - {"engine"} | {"judges"} == set(cleaning._CACHED)
