"""Every engine that may hold something of the harness is cleaned; its own go, unless somebody uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.engine.service import Service
from harness.engine.sockets import SocketCandidate
from harness.upkeep import Removal, clean_all, traces
from harness.upkeep.traces import engines_used

ENVIRONMENT: Mapping[str, str] = {"XDG_RUNTIME_DIR": "/run/user/7"}


class Site:
    """A machine with engines at some sockets, and notes of what was done with them, in order."""

    def __init__(self, layout: Layout, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.layout, self.folder = layout, folder
        self.did: list[Any] = []
        # socket -> the engine's name; another socket is silent
        self.engines = {"/run/docker.sock": "docker", "/run/podman.sock": "podman", "/run/own.sock": "docker"}
        self.chosen: SocketCandidate | None = None
        self.receipts: list[str] = []
        self.served: list[Service] = []
        self.podman: Any = None
        self.is_alone = True
        places = ["/run/own.sock", "/run/docker.sock", "/run/silent.sock", "/run/podman.sock"]
        patches = {
            "served_services": self._asked(lambda: [SimpleNamespace(socket=Path("/run/own.sock")), *self.served]),
            "chosen_by_user": lambda environment: self.chosen if environment is ENVIRONMENT else None,
            "usual_places": lambda environment: [
                SocketCandidate(Path(path), "usual place") for path in places if environment is ENVIRONMENT
            ],
            "silence": lambda path: "" if str(path) in self.engines else "nobody listens",
            "every_receipt": lambda _layout: [SimpleNamespace(engine=name) for name in self.receipts],
            "serve_podman": self._asked(lambda: self.podman),
            "Engine": self.engine,
        }
        for name, patch in patches.items():
            monkeypatch.setattr(traces, name, patch)

    def _asked(self, answer: Any) -> Any:
        def asked(cache: Path, environment: object) -> Any:
            assert cache == self.layout.cache and environment is ENVIRONMENT
            return answer()

        return asked

    def engine(self, path: Path) -> Any:
        return Engine(self, self.engines[str(path)], str(path))


class Engine:
    """What of an engine is asked for."""

    def __init__(self, site: Site, name: str, path: str) -> None:
        self.site, self.name, self.path = site, name, path

    def __enter__(self) -> Engine:
        self.site.did.append(("enter", self.path))
        return self

    def __exit__(self, *_: object) -> None:
        self.site.did.append(("leave", self.path))


@pytest.fixture
def site(repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    return Site(layout, tmp_path / "run", monkeypatch)


def used(site: Site) -> list[str]:
    return [one.path for one in engines_used(site.layout, ENVIRONMENT)]  # type: ignore[attr-defined]


def test_every_engine_that_answers_is_used_but_the_harnesss_own(site: Site) -> None:
    assert used(site) == ["/run/docker.sock", "/run/podman.sock"]


def test_the_one_that_a_person_chose_is_the_only_one(site: Site) -> None:
    site.chosen = SocketCandidate(Path("/run/podman.sock"), "$DOCKER_HOST")
    assert used(site) == ["/run/podman.sock"]
    site.chosen = SocketCandidate(Path("/run/own.sock"), "$DOCKER_HOST")
    assert used(site) == []


def test_podmans_storage_is_the_users_own_whoever_served_it(site: Site) -> None:
    site.podman = Engine(site, "podman", "served")
    assert used(site) == ["/run/docker.sock", "/run/podman.sock"]
    site.receipts = ["docker", "podman"]
    # one that answers has the same storage
    assert used(site) == ["/run/docker.sock", "/run/podman.sock"]
    del site.engines["/run/podman.sock"]
    assert used(site) == ["/run/docker.sock", "served"]
    site.receipts = ["docker"]
    assert used(site) == ["/run/docker.sock"]
    site.receipts, site.podman = ["podman"], None
    assert used(site) == ["/run/docker.sock"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_engines_are_emptied_one_by_one_and_then_the_cache(
    site: Site, monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
) -> None:
    def engine_cleaned(layout: Layout, engine: Engine, **choices: bool) -> Iterator[Removal]:
        assert layout is site.layout
        site.did.append((engine.path, choices))
        yield Removal("image", engine.path)

    def folders_cleaned(layout: Layout, **choices: bool) -> Iterator[Removal]:
        site.did.append(choices)
        yield Removal("cache", "all")

    monkeypatch.setattr(traces, "clean_engine", engine_cleaned)
    monkeypatch.setattr(traces, "clean_folders", folders_cleaned)
    monkeypatch.setattr(traces, "_served", lambda *_, dry_run: iter([Removal("engine", str(dry_run))]))
    assert list(clean_all(site.layout, ENVIRONMENT, dry_run=dry_run)) == [
        Removal("image", "/run/docker.sock"),
        Removal("image", "/run/podman.sock"),
        Removal("engine", str(dry_run)),
        Removal("cache", "all"),
    ]
    choices = {"images": True, "dry_run": dry_run}
    assert site.did == [
        *(("enter", "/run/docker.sock"), ("/run/docker.sock", choices), ("leave", "/run/docker.sock")),
        *(("enter", "/run/podman.sock"), ("/run/podman.sock", choices), ("leave", "/run/podman.sock")),
        {"cache": True, "dry_run": dry_run},
    ]


@pytest.fixture
def services(site: Site, monkeypatch: pytest.MonkeyPatch) -> list[Service]:
    """Two engines that were served, and what they stored."""
    made = [Service(name, (), site.folder / name) for name in ("docker", "podman")]
    for one in made:
        one.folder.mkdir(parents=True)
        (one.folder / "log.txt").touch()
    (site.layout.cache / "engine").mkdir(parents=True)
    (site.layout.cache / "engine" / "layer").write_bytes(b"x" * 5000)
    folder = site.folder

    @contextmanager
    def starting(service: Service) -> Iterator[None]:
        site.did.append(("starting", service.name))
        yield

    @contextmanager
    def alone(service: Service) -> Iterator[bool]:
        yield site.is_alone

    monkeypatch.setattr(
        traces, "served_services", site._asked(lambda: [one for one in made if one.folder.is_dir()])
    )
    monkeypatch.setattr(traces, "services_folder", site._asked(lambda: folder))
    monkeypatch.setattr(traces, "starting", starting)
    monkeypatch.setattr(traces, "alone", alone)
    monkeypatch.setattr(traces, "stop", lambda service: site.did.append(("stop", service.name)))
    monkeypatch.setattr(traces, "release", lambda *given: site.did.append(("release", *given)))
    return made


def removed(site: Site, *, dry_run: bool) -> list[Removal]:
    removals = list(traces._served(site.layout, ENVIRONMENT, dry_run=dry_run))
    if not dry_run:
        traces._drop_empty(site.layout, ENVIRONMENT)
    return removals


def test_served_engines_are_stopped_and_nothing_of_them_is_left(site: Site, services: list[Service]) -> None:
    announced = removed(site, dry_run=True)
    assert site.did == [("starting", "docker"), ("starting", "podman")]
    assert all((one.folder / "log.txt").exists() for one in services)
    storage = announced[-1]
    assert announced == [
        *(Removal("engine", str(one.folder)) for one in services),
        Removal("images and build cache", str(site.layout.cache / "engine"), storage.bytes),
    ]
    assert storage.bytes >= 5000 and (site.layout.cache / "engine" / "layer").exists()
    site.did.clear()
    assert removed(site, dry_run=False) == announced
    assert site.did == [
        # this process may use one itself
        ("release", site.layout, ENVIRONMENT),
        ("starting", "docker"),
        ("stop", "docker"),
        ("starting", "podman"),
        ("stop", "podman"),
    ]
    assert not site.folder.exists() and not site.layout.cache.exists()
    assert removed(site, dry_run=False) == []


def test_folders_that_hold_something_else_stay(site: Site, services: list[Service]) -> None:
    (site.folder / "of-others").mkdir()
    (site.layout.cache / "note").touch()
    removed(site, dry_run=False)
    assert [path.name for path in site.folder.iterdir()] == ["of-others"]
    assert [path.name for path in site.layout.cache.iterdir()] == ["note"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_another_harness_uses_stays_whole(site: Site, services: list[Service], *, dry_run: bool) -> None:
    site.is_alone = False
    assert removed(site, dry_run=dry_run) == [
        Removal("engine", str(services[0].folder), fault="another harness uses this engine")
    ]
    assert ("stop", "docker") not in site.did
    assert (services[0].folder / "log.txt").exists() and (site.layout.cache / "engine" / "layer").exists()
