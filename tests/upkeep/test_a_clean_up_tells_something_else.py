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
from harness.base.ownership import boot, mount_space, own_folder
from harness.engine import Engine
from harness.images.parts import incoming
from harness.images.receipts import building, receipt_path
from harness.study.cache import _FOLDER
from harness.upkeep.cache import CACHED
from harness.upkeep.clean import Removal, clean, folder_removal
from tests.conftest import REPOSITORY

# the package shows a function of the same name
cleaning = import_module("harness.upkeep.clean")

ORPHAN = SimpleNamespace(container="0123456789abcdef", state="exited", run="run-7")


class FakeImages:
    """An engine with images, one of which is in use."""

    def __init__(self, *images: dict[str, Any]) -> None:
        self.api = self
        self.client = self
        self.name, self.socket = "podman", Path("/run/fake-images.sock")
        self._images = images
        self.removed: list[str] = []

    def info(self) -> dict[str, Any]:
        return {"DockerRootDir": "/var/lib/fake"}

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
@pytest.mark.parametrize(("run", "of"), [("run-7", "of run run-7"), ("", "of an examination")])
def test_a_container_without_an_owner_goes(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, run: str, of: str, *, dry_run: bool
) -> None:
    discarded: list[str] = []
    orphan = SimpleNamespace(**{**vars(ORPHAN), "run": run})
    monkeypatch.setattr(cleaning, "find_orphans", lambda _engine: [orphan])
    monkeypatch.setattr(cleaning, "discard_container", lambda _engine, container: discarded.append(container))
    assert cleaned(layout, FakeImages(), dry_run=dry_run) == [Removal("container", f"0123456789ab (exited) {of}")]
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


@pytest.mark.usefixtures("without_orphans")
def test_what_a_person_named_or_built_on_an_image_of_ours_stays(layout: Layout) -> None:
    """Labels are handed on to whatever is built on an image."""
    ours = {"permafrost": "method"}
    engine = FakeImages(
        {
            "Id": "sha256:1",
            "RepoTags": ["mylab/kept:paper", "localhost/permafrost/x:1"],
            "Labels": ours,
            "Size": 1,
        },
        {"Id": "sha256:2", "RepoTags": ["mylab/analysis:v1"], "Labels": ours, "Size": 2},
    )
    assert cleaned(layout, engine, images=True) == [Removal("image", "localhost/permafrost/x:1", 1)]
    assert engine.removed == ["localhost/permafrost/x:1"]


@pytest.mark.usefixtures("without_orphans")
def test_an_image_that_was_removed_is_not_said_to_be_built_here(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    engine = FakeImages(
        {"Id": "sha256:1", "RepoTags": ["localhost/permafrost/x:1"]},
        {"Id": "sha256:2", "RepoTags": ["localhost/permafrost/in-use:1"]},
    )
    receipts = [
        receipt_path(layout, cast(Any, engine), f"localhost/permafrost/{name}:1") for name in ("x", "in-use")
    ]
    for path in receipts:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    cleaned(layout, engine, images=True, dry_run=True)
    assert [path.exists() for path in receipts] == [True, True]
    cleaned(layout, engine, images=True)
    assert [path.exists() for path in receipts] == [False, True]


def test_a_persons_own_files_in_the_cache_stay(repository: Layout, tmp_path: Path) -> None:
    """Its folder may be one that holds more, with folders of the same names."""
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    own: tuple[str, ...] = (
        "data/survey.csv",
        "docs/thesis.tex",
        "images/photo.jpg",
        "datasets/mine/dataset.toml",
        "parts/list",
    )
    own += ("weights/pure_scibert-dapt-0123456789abcdef/model.bin", "studies/2026.json", "splits/a.csv")
    # what begins like a name of ours is another
    own += ("datasets/20260101-mine/a.csv", "splits/20260101_mine.npy", "images/held-back.jpg", "data/0a.CSV")
    ours: tuple[str, ...] = (
        f"data/0a/{'0' * 64}",
        f"datasets/recipe-{'1' * 64}/x.npy",
        f"splits/{'2' * 64}.npy",
        "parts/ff/file",
    )
    ours += (f"audit/{'3' * 32}.json", f"studies/{'4' * 32}.json", "images/held/x.json", "images/context-1/x")
    for name in (*own, *ours):
        (layout.cache / name).parent.mkdir(parents=True, exist_ok=True)
        (layout.cache / name).touch()
    gone = [one.name for one in clean(layout, None, cache=True)]
    assert {str(path.relative_to(layout.cache)) for path in layout.cache.rglob("*") if path.is_file()} == {*own}
    # a folder that holds nothing else goes as one
    assert str(layout.cache / "audit") in gone and str(layout.cache / "data" / "0a") in gone


def test_what_another_harness_uses_of_the_cache_stays(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    # what a killed harness left of its downloads is in nobody's use
    (incoming(layout) / f"harness-{boot()}-{mount_space()}-killed").mkdir(parents=True)
    for dry_run in (True, False):
        removed = clean(layout, None, cache=True, dry_run=dry_run)
        assert [one.fault for one in removed if one.name.endswith("parts")] == [""]
    (layout.cache / "splits" / "made").mkdir(parents=True)
    downloads = own_folder(incoming(layout))
    with building(layout):
        left = {Path(one.name).name: one.fault for one in clean(layout, None, cache=True) if one.fault}
        assert left == {
            "images": "another harness builds or verifies an image",
            "parts": "another harness fetches parts",
        }
        assert downloads.is_dir() and (layout.cache / "images" / "building.lock").is_file()
    assert not (layout.cache / "splits").exists()
    assert [one.fault for one in clean(layout, None, cache=True) if one.name.endswith("images")] == [""]
    assert not (layout.cache / "images").exists()


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
    # as where two clean up at once
    assert folder_removal("cache", folder, dry_run=False) == Removal("cache", str(folder), 0)
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
    assert (names | {"judges"}) - {"engine", "weights"} == {*CACHED}
