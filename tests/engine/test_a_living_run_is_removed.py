"""Whose container an orphan is, without containers; and how an engine is found again and describes its images."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import docker.errors
import pytest

from harness.base.errors import EngineError
from harness.base.ownership import LABEL_HARNESS, LABEL_RUN, own_folder, owner_of
from harness.engine import Engine
from harness.engine.leftovers import remove_tree
from harness.engine.orphans import Orphan, discard_container, discard_run, find_orphans, remove_orphans
from tests.runs.fake_engine import IMAGE, FakeEngine

BRIEF = ("permafrost.control=yes", "permafrost=export", "permafrost=check")


class Api:
    """Containers of this living process, of a dead one, without labels, and of a dead one without its run."""

    def __init__(self, living: Path, dead: Path) -> None:
        self.removed: list[tuple[str, dict[str, bool]]] = []
        self.asked: list[dict[str, Any]] = []
        self.status = 0
        self.brief: dict[str, list[dict[str, Any]]] = {}
        self.known: list[dict[str, Any]] = [
            {"Id": "mine", "State": "running", "Labels": {LABEL_HARNESS: owner_of(living), LABEL_RUN: "a"}},
            {"Id": "theirs", "State": "exited", "Labels": {LABEL_HARNESS: owner_of(dead), LABEL_RUN: "b"}},
            {"Id": "bare", "Labels": None},
            {"Id": "odd", "Labels": {LABEL_HARNESS: owner_of(dead)}},
        ]

    def containers(self, **how: Any) -> list[dict[str, Any]]:
        self.asked.append(how)
        label = how["filters"]["label"]
        return self.brief.get(label, []) if label in BRIEF else self.known

    def remove_container(self, container: str, **how: bool) -> None:
        if self.status:
            response: Any = SimpleNamespace(status_code=self.status, reason="", url="")
            raise docker.errors.APIError("no", response=response)
        self.removed.append((container, how))


@pytest.fixture
def api(tmp_path: Path) -> Api:
    dead = tmp_path / "dead"
    dead.mkdir()
    (dead / "owner.lock").touch()
    return Api(own_folder(tmp_path / "work"), dead)


def engine_of(api: Api) -> Engine:
    return cast(Engine, SimpleNamespace(api=api))


@pytest.mark.parametrize("label", BRIEF)
def test_a_container_of_a_moment_is_an_orphan_after_an_hour(api: Api, label: str) -> None:
    """Of a harness that was killed while it examined an engine or an image."""
    api.known = []
    api.brief[label] = [
        {"Id": "now", "State": "running", "Created": int(time.time()) - 3000},
        {"Id": "then", "State": "running", "Created": int(time.time()) - 4000},
    ]
    assert find_orphans(engine_of(api)) == [Orphan("then", "", "running")]
    assert [orphan.container for orphan in remove_orphans(engine_of(api))] == ["then"]


def test_only_containers_without_an_owner_are_orphans(api: Api) -> None:
    assert find_orphans(engine_of(api)) == [Orphan("theirs", "b", "exited"), Orphan("odd", "", "")]
    assert {"all": True, "filters": {"label": LABEL_HARNESS}} in api.asked
    assert [orphan.container for orphan in remove_orphans(engine_of(api))] == ["theirs", "odd"]
    assert api.removed == [(one, {"force": True, "v": True}) for one in ("theirs", "odd")]


def test_what_is_left_of_a_run_is_looked_for_by_its_name(api: Api) -> None:
    discard_run(engine_of(api), "harness-1-run-2")
    assert api.asked == [{"all": True, "filters": {"label": f"{LABEL_RUN}=harness-1-run-2"}}]
    assert len(api.removed) == len(api.known)


@pytest.mark.parametrize("status", [404, 409])
def test_a_container_that_is_gone_is_removed(api: Api, status: int) -> None:
    api.status = status
    discard_container(engine_of(api), "x")


@pytest.mark.parametrize("status", [403, 500])
def test_a_container_that_cannot_be_removed_is_told(api: Api, status: int) -> None:
    api.status = status
    with pytest.raises(docker.errors.APIError):
        discard_container(engine_of(api), "x")


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeEngine]:
    server = FakeEngine(tmp_path / "s")
    yield server
    server.close()


def test_an_image_is_found_by_its_id_or_not_at_all(fake: FakeEngine) -> None:
    with Engine(fake.socket_path) as engine:
        assert engine.image_id(IMAGE) == IMAGE and engine.image_id("other:1") is None
        assert engine.reference("a/b:1") == "a/b:1"
        engine.facts = SimpleNamespace(name="podman")  # type: ignore[assignment]
        assert engine.image_id(IMAGE) == IMAGE, "an id is no name"
        names = {"a/b:1": "localhost/a/b:1", "b": "localhost/b", "x.org/a": "x.org/a", "x:5/a": "x:5/a"}
        assert {name: engine.reference(name) for name in names} == names
        assert engine.reference("localhost/a:1") == "localhost/a:1"


def test_an_engine_is_found_again(fake: FakeEngine) -> None:
    revived: list[int] = []
    with Engine(fake.socket_path, revive=lambda: revived.append(1)) as engine:
        first = engine.client
        engine.renew(patience=1.0)
        assert engine.client is not first and not revived and engine.answers()


def test_an_engine_of_ours_is_started_again(fake: FakeEngine, tmp_path: Path) -> None:
    others: list[FakeEngine] = []

    def revive() -> None:
        fake.socket_path.unlink(missing_ok=True)
        others.append(FakeEngine(fake.socket_path))

    with Engine(fake.socket_path, revive=revive) as engine:
        fake.close()
        engine.renew(patience=0.0)
        assert len(others) == 1 and engine.answers()
    others[0].close()


def test_an_engine_of_somebody_else_is_waited_for_and_given_up(fake: FakeEngine) -> None:
    with Engine(fake.socket_path) as engine:
        fake.close()
        assert not engine.answers()
        with pytest.raises(EngineError, match="did not come back within 0 s"):
            engine.renew(patience=0.3)


def test_an_engine_is_released_once(fake: FakeEngine) -> None:
    released: list[int] = []
    engine = Engine(fake.socket_path, release=lambda: released.append(1))
    with engine:
        pass
    engine.close()
    assert released == [1]


def test_what_cannot_be_removed_is_named_and_the_rest_goes(tmp_path: Path) -> None:
    assert remove_tree(tmp_path / "nowhere") == []
    (tmp_path / "file").touch()
    (fault,) = remove_tree(tmp_path / "file")
    assert fault == f"{tmp_path / 'file'}: Not a directory" and (tmp_path / "file").exists()
