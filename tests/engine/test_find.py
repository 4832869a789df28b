"""The search for an engine: an explicit choice is never overruled, and a failure says what to type."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.engine import Engine, find, find_engine, programs
from harness.engine.sockets import chosen_by_user, silence, usual_places


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any engine."""
    monkeypatch.setattr(find, "usual_places", lambda environment: [])
    monkeypatch.setattr(programs, "find_program", lambda name: None)


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Path]:
    """A socket on which every request is answered with one status."""
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield path
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_nothing_found_says_what_to_type(layout: Layout, nothing_here: None) -> None:
    with pytest.raises(EngineError, match="no container engine was found") as error:
        find_engine(layout, environment={})
    assert "apt-get install" in error.value.todo and error.value.exit_code == 3


def test_nothing_is_installed_unasked(layout: Layout, nothing_here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_may_install", lambda: pytest.fail("looked at installing"))
    with pytest.raises(EngineError):
        find_engine(layout, environment={})


def test_what_may_be_installed_is_then_served(
    layout: Layout, nothing_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(find, "_may_install", lambda: True)
    monkeypatch.setattr(find, "install_docker", lambda: done.append("installed"))
    with pytest.raises(EngineError):
        find_engine(layout, install=True, environment={})
    assert done == ["installed"]


def test_a_chosen_engine_that_is_silent_is_an_error_not_a_hint(layout: Layout, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="does not answer: no such socket") as error:
        find_engine(layout, environment={"DOCKER_HOST": f"unix://{tmp_path / 'no.sock'}"})
    assert "$DOCKER_HOST" in error.value.todo


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:2375", "ssh://me@there", "unix://", "nonsense"])
def test_an_engine_elsewhere_is_refused(layout: Layout, address: str) -> None:
    with pytest.raises(EngineError, match="names an engine elsewhere"):
        find_engine(layout, environment={"CONTAINER_HOST": address})


def test_a_chosen_socket_is_read_from_either_variable() -> None:
    for environment in ({"DOCKER_HOST": "unix:///a/b"}, {"CONTAINER_HOST": "/a/b"}):
        chosen = chosen_by_user(environment)
        assert chosen is not None and chosen.path == Path("/a/b")
    assert chosen_by_user({"DOCKER_HOST": ""}) is None


def test_a_users_own_sockets_are_looked_at_too() -> None:
    paths = [str(place.path) for place in usual_places({"XDG_RUNTIME_DIR": "/run/user/7"})]
    assert paths[-2:] == ["/run/user/7/docker.sock", "/run/user/7/podman/podman.sock"]


def test_silence_has_its_reason(tmp_path: Path, answering: Path) -> None:
    assert silence(tmp_path / "none") == "no such socket"
    assert "503" in silence(answering)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "deaf"))
        assert silence(tmp_path / "deaf") == "nobody listens"
        deaf.listen()
        assert "no answer" in silence(tmp_path / "deaf", timeout=0.2)


@pytest.mark.engine
def test_an_engine_that_answers_is_described(docker_engine: object, layout: Layout) -> None:
    with find_engine(layout, only="docker") as engine:
        assert engine.name == "docker" and engine.facts.version and engine.facts.cpus >= 1
        assert engine.answers() and engine.image_id("sha256:" + "0" * 64) is None


@pytest.mark.engine
def test_podman_keeps_local_names_under_localhost(podman_engine: Engine) -> None:
    assert podman_engine.reference("permafrost/x:1") == "localhost/permafrost/x:1"
    assert podman_engine.reference("localhost/permafrost/x:1") == "localhost/permafrost/x:1"
    assert podman_engine.reference("registry.example/x:1") == "registry.example/x:1"
