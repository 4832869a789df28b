"""`harness engine start|stop|env`: what a person keeps running is stopped by nobody else, and by them at once."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.engine import Engine, custody
from harness.engine import lease as lease_module
from harness.engine import service as serve
from harness.engine.custody import Reached, keep, reach, release, served_services
from harness.engine.lease import Lease
from harness.engine.service import Service, socket_in
from harness.engine.sockets import SocketCandidate, silence
from tests.conftest import REPOSITORY
from tests.core.word_for_word import said
from tests.engine.interrupted import ENGINE
from tests.engine.test_an_interrupt_leaves_an_engine import is_alive
from tests.private_engine import private_cache

__all__ = ["private_cache"]


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A pretended engine in a folder like that of a served one."""
    folder = tmp_path / "services" / "docker"
    folder.mkdir(parents=True)
    monkeypatch.setattr(custody, "services_folder", lambda *_: folder.parent)
    made = Service("pretended", [sys.executable, "-I", "-S", "-c", ENGINE, str(socket_in(folder))], folder)
    yield made
    serve.stop(made)


def pid_of(service: Service) -> int:
    return int((service.folder / "pid").read_text())


def engine_at(service: Service) -> Engine:
    return cast(Engine, SimpleNamespace(name="docker", socket=service.socket))


def test_it_runs_on_when_its_last_user_has_gone_until_it_is_released(layout: Layout, service: Service) -> None:
    lease = Lease(service)
    assert keep(layout, engine_at(service), {}).kept
    lease.release()
    pid = pid_of(service)
    assert is_alive(pid)
    # whoever comes and goes leaves it running
    Lease(service).release()
    assert is_alive(pid) and pid_of(service) == pid
    (stopped,) = release(layout, {})
    assert (stopped.socket, stopped.in_use) == (service.socket, False)
    assert not is_alive(pid) and release(layout, {}) == []


def test_one_that_is_used_is_stopped_by_its_last_user(layout: Layout, service: Service) -> None:
    lease = Lease(service)
    keep(layout, engine_at(service), {})
    other = os.open(service.folder / "users.lock", os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_SH)
    (stopped,) = release(layout, {})
    pid = pid_of(service)
    assert stopped.in_use and is_alive(pid)
    os.close(other)
    lease.release()
    assert not is_alive(pid)


@pytest.mark.parametrize("note", ["0000-of-another-boot", "zzzz-of-another-boot"])
def test_a_note_of_before_a_restart_keeps_nothing(service: Service, note: str) -> None:
    lease = Lease(service)
    service.kept.write_text(note)
    pid = pid_of(service)
    lease.release()
    assert not is_alive(pid)


def test_an_engine_of_somebody_else_is_left_as_it_is(layout: Layout, service: Service) -> None:
    (service.folder / "start.lock").touch()
    for socket in ("/zz.sock", "/a.sock"):
        other = cast(Engine, SimpleNamespace(name="podman", socket=Path(socket)))
        kept = keep(layout, other, {})
        assert not kept.kept and not service.kept.exists()
        assert kept.variable == ("CONTAINER_HOST", f"unix://{socket}")


def test_of_several_engines_the_one_in_use_is_kept(layout: Layout, service: Service) -> None:
    """Only folders in which an engine was started count; Docker's has a storage, which a crash leaves mounted."""
    other = Service("podman", (), service.folder.parent / "podman")
    for folder in (other.folder, service.folder.parent / "a-folder"):
        folder.mkdir()
    (other.folder / "start.lock").touch()
    lease = Lease(service)
    assert keep(layout, engine_at(other), {}).kept
    assert other.is_kept and not service.is_kept
    services = {one.name: one for one in served_services(layout.cache, {})}
    storage = {name: one.storage for name, one in services.items()}
    assert storage == {"docker": layout.cache / "engine" / "docker", "podman": None}
    assert [one.folder for one in services.values()] == [service.folder, other.folder]
    assert [stopped.socket for stopped in release(layout, {})] == [other.socket]
    assert is_alive(pid_of(service)), "one that was not kept is left to its users"
    lease.release()


def test_the_engines_of_a_cache_are_told_in_order(layout: Layout, service: Service) -> None:
    names = ["zz", "podman-corrected", "b", "podman", "a"]
    for name in names:
        (service.folder.parent / name).mkdir()
        (service.folder.parent / name / "start.lock").touch()
    assert [one.name for one in served_services(layout.cache, {})] == sorted(names)


def begun(service: Service, *words: str) -> subprocess.Popen[bytes]:
    """A process that is noted as the service's, as if another harness had just started it."""
    process = subprocess.Popen(words)
    (service.folder / "pid").write_text(f"{process.pid}\n")
    return process


def test_an_engine_that_is_still_starting_is_waited_for(service: Service) -> None:
    with begun(service, *service.command) as process:
        lease = Lease(service)
        assert pid_of(service) == process.pid and not silence(service.socket)
        lease.release()
        assert process.poll() is not None, "and its last user stops it, whoever started it"


def test_an_engine_that_hangs_is_ended_and_another_is_started(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "_STOP_SECONDS", 0.2)
    with begun(service, "tail", "-f", "/dev/null", str(service.socket)) as hanging:
        lease = Lease(service)
        assert pid_of(service) != hanging.pid and not is_alive(hanging.pid) and not silence(service.socket)
        monkeypatch.undo()
        lease.release()


def test_a_child_of_a_user_stops_nothing(service: Service) -> None:
    lease = Lease(service)
    child = os.fork()
    if not child:
        lease_module._release_all()
        os._exit(len(lease_module._held))
    assert os.waitpid(child, 0)[1] == 0
    assert is_alive(pid_of(service)) and lease in lease_module._held
    lease.release()
    assert lease not in lease_module._held


class Named:
    """An engine as far as its name is asked."""

    def __init__(self, socket: Path) -> None:
        self.name, self.socket = "docker", socket

    def __enter__(self) -> Named:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_a_kept_engine_is_reached_where_no_other_answers(
    layout: Layout, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any that answers at a usual place comes before, as in the search; of silent ones all places are told."""
    places = [tmp_path / "a", tmp_path / "b"]
    answering = {service.socket}
    monkeypatch.setattr(custody, "usual_places", lambda _: [SocketCandidate(path, "") for path in places])
    monkeypatch.setattr(custody, "silence", lambda socket: "" if socket in answering else "nobody listens")
    monkeypatch.setattr(custody, "Engine", Named)
    (service.folder / "start.lock").touch()
    with pytest.raises(EngineError) as error:
        reach(layout, {})
    assert error.value.what == "no engine answers" and error.value.where == f"{places[0]}, {places[1]}"
    assert error.value.todo == "start one: harness engine start"
    assert keep(layout, cast(Engine, Named(service.socket)), {}) == Reached("docker", service.socket, kept=True)
    assert reach(layout, {}) == Reached("docker", service.socket, kept=True)
    answering.add(places[1])
    assert reach(layout, {}) == Reached("docker", places[1], kept=False)
    chosen = {"DOCKER_HOST": f"unix://{service.socket}"}
    assert reach(layout, chosen) == Reached("docker", service.socket, kept=True)
    # an explicit choice is never overruled, though other engines answer
    with pytest.raises(EngineError) as error:
        reach(layout, {"DOCKER_HOST": "unix:///nonexistent"})
    assert said(error.value) == ("no engine answers", "/nonexistent", "start it, or unset $DOCKER_HOST")


def test_nothing_is_started_to_tell_where_it_is(
    layout: Layout, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custody, "usual_places", lambda _: [])
    Lease(service).release()
    with pytest.raises(EngineError, match="no engine answers") as error:
        reach(layout, {})
    assert "harness engine start" in error.value.todo
    assert [one.socket for one in served_services(layout.cache, {})] == [service.socket]


@pytest.mark.engine
@pytest.mark.alone
def test_plain_docker_finds_it(private_cache: Path) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DOCKER_HOST", "CONTAINER_HOST")
    }
    environment["PERMAFROST_CACHE"] = str(private_cache)

    def harness(*words: str) -> str:
        command = [sys.executable, "-m", "harness", "engine", *words]
        return subprocess.run(
            command, cwd=REPOSITORY, env=environment, check=True, capture_output=True, text=True
        ).stdout

    told = json.loads(harness("start", "--json"))
    if not told["kept"]:
        pytest.skip("an engine that is not the harness's own answers here")
    try:
        line = harness("env").strip()
        assert line == f"export DOCKER_HOST=unix://{told['socket']}"
        listed = subprocess.run(
            ["bash", "-c", f"{line} && docker info --format '{{{{.DockerRootDir}}}}'"],
            capture_output=True,
            text=True,
        )
        assert listed.stdout.strip() == str(private_cache / "engine" / "docker"), listed.stderr
    finally:
        harness("stop")
    assert harness("stop") == "no engine is kept running\n"
