"""What an engine answers decides its name, its runtimes and its images; nonsense is an engine that has failed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import pytest

from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout
from harness.engine import Engine
from harness.engine.custody import Reached, keep, reach
from tests.private_engine import UNCLOSED

pytestmark = UNCLOSED

DOCKER = {"Version": "20.10", "ApiVersion": "1.41", "MinAPIVersion": "1.12", "Components": [{"Name": "Engine"}]}
PODMAN = {**DOCKER, "Version": "4.3.1", "Components": [{"Name": "Podman Engine"}]}
INFO: dict[str, Any] = {
    "Runtimes": {"runc": {}, "crun": {}},
    "DefaultRuntime": "runc",
    "SecurityOptions": ["name=seccomp,profile=default"],
}
Answers = dict[str, Any]
Speak = Callable[[Answers], Path]


@pytest.fixture
def speak(tmp_path: Path) -> Iterator[Speak]:
    """Starts what answers on a socket as an engine does: the last word of an address, and the document for it."""
    servers: list[ThreadingUnixStreamServer] = []

    def start(answers: Answers) -> Path:
        class Handler(BaseHTTPRequestHandler):
            # a socket of files has no address for the log
            def address_string(self) -> str:
                return ""

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                word = self.path.partition("?")[0].removesuffix("/json").rsplit("/", 1)[-1]
                content = answers.get(word)
                body = (
                    content
                    if isinstance(content, bytes)
                    else json.dumps(content or {"message": "No such image"}).encode()
                )
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_HEAD(self) -> None:
                self.do_GET()

        path = tmp_path / f"{len(servers)}.sock"
        server = ThreadingUnixStreamServer(str(path), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return path

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("version", [b"no JSON", b""])
def test_who_tells_no_version_does_not_answer(speak: Speak, version: bytes) -> None:
    path = speak({"version": version, "info": INFO, "_ping": b"OK"})
    with pytest.raises(EngineError, match="the engine does not answer: ") as failed:
        Engine(path)
    assert failed.value.where == f"unix://{path}" and "$DOCKER_HOST" in failed.value.todo


@pytest.mark.parametrize("info", [None, b"no JSON", b""])
def test_an_engine_that_says_nothing_of_itself_has_failed(speak: Speak, info: bytes | None) -> None:
    path = speak({"version": DOCKER, "info": info, "_ping": b"OK"})
    with pytest.raises(EngineError, match="the engine does not describe itself: ") as failed:
        Engine(path)
    assert (failed.value.where, failed.value.todo) == (str(path), "restart the engine")


@pytest.mark.parametrize(
    ("version", "rootless", "kept"),
    [
        (PODMAN, True, (True, False)),
        # what the machine has counts for root, and Docker says itself what it was given
        (PODMAN, False, (True, True)),
        (DOCKER, True, (True, True)),
    ],
)
def test_a_rootless_podman_is_asked_what_it_was_given(
    speak: Speak, version: Answers, rootless: bool, kept: tuple[bool, bool]
) -> None:
    info = {**INFO, "Rootless": rootless, "CgroupVersion": "2", "host": {"cgroupControllers": ["memory", "pids"]}}
    with Engine(speak({"version": version, "info": info, "_ping": b"OK"})) as engine:
        assert (engine.facts.memory_limit_enforced, engine.facts.cpu_limit_enforced) == kept


def test_nobody_at_a_socket_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the engine does not answer: "):
        Engine(tmp_path / "nobody.sock")


@pytest.mark.parametrize(("version", "name"), [(DOCKER, "docker"), (PODMAN, "podman")])
def test_an_engine_is_known_by_its_own_words(speak: Speak, version: Answers, name: str) -> None:
    path = speak({"version": version, "info": INFO, "_ping": b"OK"})
    with Engine(path) as engine:
        assert (engine.name, engine.address, engine.answers()) == (name, f"unix://{path}", True)
        assert engine.facts.version == version["Version"] and engine.facts.socket == str(path)


@pytest.mark.parametrize(
    ("name", "of_podman"),
    [
        ("bnnr", "localhost/bnnr"),
        ("permafrost/bnnr:1", "localhost/permafrost/bnnr:1"),
        ("localhost/bnnr", "localhost/bnnr"),
        ("localhost:5000/bnnr", "localhost:5000/bnnr"),
        ("example.org/bnnr", "example.org/bnnr"),
    ],
)
def test_podman_keeps_local_images_under_a_name_of_its_own(speak: Speak, name: str, of_podman: str) -> None:
    for version, wanted in ((DOCKER, name), (PODMAN, of_podman)):
        with Engine(speak({"version": version, "info": INFO, "_ping": b"OK"})) as engine:
            assert engine.reference(name) == wanted


def test_an_image_is_found_by_name_and_by_id(speak: Speak) -> None:
    images = {"bnnr": {"Id": "12ab"}, "sha256:34cd": {"Id": "sha256:34cd"}}
    names = {"bnnr": "sha256:12ab", "sha256:34cd": "sha256:34cd", "unknown": None}
    for version in (DOCKER, PODMAN):
        with Engine(speak({"version": version, "info": INFO, "_ping": b"OK", **images})) as engine:
            assert {name: engine.image_id(name) for name in names} == names


def test_a_runtime_that_an_engine_has_is_used(speak: Speak) -> None:
    with Engine(speak({"version": DOCKER, "info": INFO, "_ping": b"OK"})) as engine:
        engine.use_runtime("crun")
        assert engine.facts.runtime == "crun"


@pytest.mark.parametrize(
    ("version", "info", "name", "known"),
    [
        (DOCKER, INFO, "runsc", "crun, runc"),
        (DOCKER, {**INFO, "Runtimes": None}, "runc", "none"),
        # its interface takes none per container
        (PODMAN, INFO, "crun", "runc"),
    ],
)
def test_a_runtime_that_it_has_not_is_refused_with_those_that_it_has(
    speak: Speak, version: Answers, info: Answers, name: str, known: str
) -> None:
    path = speak({"version": version, "info": info, "_ping": b"OK"})
    with Engine(path) as engine:
        usual = engine.facts.runtime
        with pytest.raises(
            UsageError, match=f"{engine.name} starts no containers with the runtime '{name}'"
        ) as refused:
            engine.use_runtime(name)
        assert refused.value.where == f"its runtimes at {path}: {known}"
        assert "daemon.json" in refused.value.todo and "containers.conf" in refused.value.todo
        assert engine.facts.runtime == usual


@pytest.mark.parametrize(
    ("version", "variable"), [(DOCKER, "DOCKER_HOST"), (PODMAN, "CONTAINER_HOST")], ids=["docker", "podman"]
)
def test_other_programs_are_told_of_the_one_that_a_person_chose(
    speak: Speak, layout: Layout, tmp_path: Path, version: Answers, variable: str
) -> None:
    path = speak({"version": version, "info": INFO, "_ping": b"OK"})
    apart = Layout(layout.root, tmp_path / "cache", tmp_path / "local")
    found = reach(apart, {"DOCKER_HOST": f"unix://{path}"})
    assert found == Reached("docker" if version is DOCKER else "podman", path, kept=False)
    assert found.variable == (variable, f"unix://{path}")
    # somebody else serves it, and so somebody else stops it
    with Engine(path) as engine:
        assert keep(apart, engine, {}) == found
