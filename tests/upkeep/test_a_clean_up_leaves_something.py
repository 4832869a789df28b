"""`clean --all` leaves results alone; `--old-images` takes what no present method asks for, and no more."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.layout import Layout
from harness.engine import Engine, build_cache, custody
from harness.images.cards import environment_names
from harness.images.identity import environment_image_name, image_name
from harness.images.record import recorded_tree
from harness.methods.card import method_names
from harness.notebook.image import notebook_image_name
from harness.upkeep import Removal, clean_all, traces
from harness.upkeep.clean import clean_engine
from harness.upkeep.demand import Asked


class FakeDocker:
    """A Docker engine with images and a build cache."""

    name, socket = "docker", Path("/run/fake.sock")

    def __init__(self, *names: str, cached: int = 0, served: bool = True) -> None:
        self.api = self.client = self
        self.facts = SimpleNamespace(served=served)
        self.base_url, self.api_version = "http+docker://localhost", "1.41"
        self._names, self._cached = names, cached
        self.removed: list[str] = []
        self.posted: list[Any] = []

    def images(self) -> list[dict[str, Any]]:
        return [{"Id": f"sha256:{name}", "RepoTags": [name], "Created": 1, "Size": 1} for name in self._names]

    def containers(self, **_: object) -> list[dict[str, Any]]:
        return []

    def df(self) -> dict[str, Any]:
        return {"BuildCache": [{"Size": self._cached // 2}, {"Size": self._cached - self._cached // 2}]}

    def info(self) -> dict[str, Any]:
        return {"DockerRootDir": "/var/lib/fake"}

    def remove_image(self, name: str) -> None:
        self.removed.append(name)

    def post(self, *arguments: Any, **options: Any) -> None:
        self.posted.append((arguments, options))


def removed(layout: Layout, engine: FakeDocker, **choices: bool) -> list[Removal]:
    return list(clean_engine(layout, cast(Engine, engine), **{"images": False, "dry_run": False, **choices}))


def test_every_image_that_the_tree_asks_for_stays(layout: Layout) -> None:
    asked = [image_name(layout, method) for method in method_names(layout)]
    asked += [notebook_image_name(layout, "bnnr"), notebook_image_name(layout, "constant")]
    asked += [
        environment_image_name(name, recorded_tree(layout, name))
        for name in environment_names(layout)
        if name in ("_base", "_python", "_numpy", "_octave")
    ]
    engine = FakeDocker(*asked)
    assert len(asked) > 30 and removed(layout, engine, old_images=True) == [] and engine.removed == []


def test_images_of_earlier_versions_go(layout: Layout) -> None:
    old = [
        "localhost/permafrost/bnnr:0123456789abcdef",
        "localhost/permafrost/environment-numpy:0123456789abcdef",
        "localhost/permafrost/notebook-bnnr:0123456789abcdef",
    ]
    kept = [
        # of a method that this tree does not have, perhaps of another clone; of the control run; of others
        "localhost/permafrost/theirs:0123456789abcdef",
        "localhost/permafrost/control:latest",
        "debian:12",
    ]
    engine = FakeDocker(*old, *kept)
    assert [one.name for one in removed(layout, engine, old_images=True)] == old
    assert engine.removed == old


def test_an_image_that_has_an_old_name_too_stays(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, names = FakeDocker(), ["localhost/permafrost/bnnr:0123456789abcdef", image_name(layout, "bnnr")]
    for order in (names, names[::-1]):
        listed = [{"Id": "sha256:1", "RepoTags": order, "Created": 1, "Size": 1}]
        monkeypatch.setattr(engine, "images", lambda listed=listed: listed)
        assert removed(layout, engine, old_images=True) == [] and engine.removed == []


def test_a_method_whose_lock_is_in_the_making_keeps_its_images(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.base.errors import ImageError
    from harness.upkeep import demand

    def unrecorded(*_: object) -> str:
        raise ImageError("has locks that changed since it was recorded")

    monkeypatch.setattr(demand, "image_name", unrecorded)
    assert Asked(layout).may_need("localhost/permafrost/bnnr:0123456789abcdef")


def test_the_build_cache_of_our_own_engine_goes_whole(layout: Layout) -> None:
    engine = FakeDocker(cached=7)
    assert removed(layout, engine, images=True, dry_run=True) == [Removal("build cache", "/run/fake.sock", 7)]
    assert engine.posted == []
    assert removed(layout, engine, images=True) == [Removal("build cache", "/run/fake.sock", 7)]
    ((arguments, options),) = engine.posted
    assert arguments[0].endswith("/build/prune") and options == {"params": {"all": "1"}}
    assert removed(layout, FakeDocker(cached=0), images=True) == []


def test_that_of_somebody_elses_stays_and_is_told(layout: Layout) -> None:
    engine = FakeDocker(cached=7, served=False)
    (left,) = removed(layout, engine, images=True)
    assert left.bytes == 7 and "docker builder prune" in left.fault and engine.posted == []


def test_an_engine_that_keeps_none_is_not_asked_for_it(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Podman's layers are images."""
    engine = FakeDocker(cached=7)
    monkeypatch.setattr(engine, "name", "podman", raising=False)
    assert build_cache.may_empty_build_cache(layout, cast(Engine, FakeDocker()))
    assert not build_cache.may_empty_build_cache(layout, cast(Engine, engine))


def test_our_own_engine_is_ours_by_whatever_address_it_is_called(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`engine env` tells its address to a shell, and through it to the harness."""
    engine = FakeDocker(cached=7, served=False)
    monkeypatch.setattr(build_cache, "served_services", lambda *_: [SimpleNamespace(socket=engine.socket)])
    assert removed(layout, engine, images=True) == [Removal("build cache", "/run/fake.sock", 7)]
    assert len(engine.posted) == 1


@pytest.fixture
def machine(repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A cache with everything in it, the folder of a service, and a stored run; no engine answers."""
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    for module in (traces, custody):
        monkeypatch.setattr(module, "services_folder", lambda *_: tmp_path / "run")
    monkeypatch.setattr(traces, "usual_places", lambda _: [])
    for path in (layout.parts / "0a", layout.cache / "engine" / "docker" / "image", layout.runs / "ab"):
        path.mkdir(parents=True)
        (path / "file").write_bytes(b"x" * 5000)
    (tmp_path / "run" / "docker").mkdir(parents=True)
    for name in ("start.lock", "users.lock", "log.txt"):
        (tmp_path / "run" / "docker" / name).touch()
    return layout


def test_all_goes_but_results(machine: Layout, tmp_path: Path) -> None:
    announced = list(clean_all(machine, {}, dry_run=True))
    assert machine.parts.exists() and (tmp_path / "run" / "docker" / "log.txt").exists()
    assert [one.kind for one in announced] == ["engine", "images and build cache", "cache"]
    assert all(one.bytes >= 5000 for one in announced if one.kind != "engine")
    assert list(clean_all(machine, {})) == announced
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local"]
    assert (machine.runs / "ab" / "file").exists()
    assert list(clean_all(machine, {})) == []


def test_an_engine_that_somebody_uses_stays_with_its_images(machine: Layout, tmp_path: Path) -> None:
    users = os.open(tmp_path / "run" / "docker" / "users.lock", os.O_RDWR)
    fcntl.flock(users, fcntl.LOCK_SH)
    (engine,) = clean_all(machine, {})
    assert engine.kind == "engine" and "another harness uses" in engine.fault
    # nor does what that harness may be reading go
    assert (machine.parts / "0a" / "file").exists()
    assert (machine.cache / "engine" / "docker" / "image" / "file").exists()
    os.close(users)
    assert [one.kind for one in clean_all(machine, {})] == ["engine", "images and build cache", "cache"]


def test_images_for_gpus_are_asked_for_too(layout: Layout) -> None:
    asked = Asked(layout)
    assert asked.may_need(image_name(layout, "sagan", "cuda"))
    assert asked.may_need(environment_image_name("_torch", recorded_tree(layout, "_torch", "cuda")))
    # Docker's names have no host
    assert asked.may_need(image_name(layout, "bnnr").removeprefix("localhost/"))
    assert not asked.may_need("permafrost/bnnr:0123456789abcdef")


def test_a_build_cache_that_is_not_asked_for_stays(layout: Layout) -> None:
    engine = FakeDocker(cached=7)
    assert removed(layout, engine, old_images=True) == [] and engine.posted == []
    (removal,) = removed(layout, engine, images=True)
    assert engine.posted == [(("http+docker://localhost/v1.41/build/prune",), {"params": {"all": "1"}})]
    engine.name = "podman"
    assert removed(layout, engine, images=True) == []
    theirs = removed(layout, FakeDocker(cached=7, served=False), images=True, dry_run=True)
    assert theirs == [
        Removal(
            "build cache",
            removal.name,
            7,
            "not in an engine of the harness's own, so others may need it; "
            "to empty it: docker builder prune --all",
        )
    ]
