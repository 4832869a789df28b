"""An engine's HTTP interface without containers: each attempt behaves as a test says, and all calls are noted."""

from __future__ import annotations

import json
import re
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

IMAGE = "sha256:" + "a" * 64


@dataclass(frozen=True)
class Behaviour:
    """What one container does, and what the engine says of it."""

    seconds: float = 0.05
    exit_code: int = 0
    log: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=lambda: {"predictions.npy": b"x"})
    oom_flag: bool = False
    # by the engine's stamps, where they are not to be the truth
    ran_s: float | None = None
    pid: int = 0
    image: str = IMAGE
    # what the engine's events hold before the end
    events: Sequence[str] = ()
    # the exit code that a signal brings about; a signal that is not here is ignored
    signals: Mapping[str, int] = field(default_factory=lambda: {"SIGTERM": 143, "SIGKILL": 137})
    # path of a call -> status and message of its answer
    refusals: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    # the connection of the wait is cut instead of answered
    cut: bool = False


class Container:
    """One made-up container."""

    def __init__(self, name: str, behaviour: Behaviour, configuration: dict[str, Any]) -> None:
        self.name, self.behaviour, self.configuration = name, behaviour, configuration
        self.started, self.ended = threading.Event(), threading.Event()
        self.exit_code = behaviour.exit_code
        self.began = self.finished = datetime.min.replace(tzinfo=UTC)
        self._guard = threading.Lock()

    def start(self) -> None:
        self.began = datetime.now(UTC)
        out = next(
            mount["Source"] for mount in self.configuration["HostConfig"]["Mounts"] if mount["Target"] == "/out"
        )
        for name, content in self.behaviour.files.items():
            path = Path(out, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        timer = threading.Timer(self.behaviour.seconds, self.end, [self.behaviour.exit_code])
        timer.daemon = True
        timer.start()
        self.started.set()

    def end(self, code: int) -> None:
        with self._guard:
            if not self.ended.is_set():
                self.exit_code = code
                ran = self.behaviour.ran_s
                self.finished = datetime.now(UTC) if ran is None else self.began + timedelta(seconds=ran)
                self.ended.set()

    def state(self) -> dict[str, Any]:
        return {
            "Running": not self.ended.is_set(),
            "Pid": 0 if self.ended.is_set() else self.behaviour.pid,
            "OOMKilled": self.behaviour.oom_flag,
            "ExitCode": self.exit_code,
            "StartedAt": self.began.isoformat().replace("+00:00", "789Z"),
            "FinishedAt": self.finished.isoformat().replace("+00:00", "789Z"),
        }


class FakeEngine(ThreadingMixIn, UnixStreamServer):
    """Answers on a socket until it is closed."""

    daemon_threads = True

    def __init__(self, socket: Path, *behaviours: Behaviour) -> None:
        super().__init__(str(socket), _Calls)
        self.socket_path = socket
        self.behaviours = list(behaviours) or [Behaviour()]
        self.containers: dict[str, Container] = {}
        self.removed: list[str] = []
        self.calls: list[str] = []
        # what was asked with each call
        self.queries: dict[str, dict[str, str]] = {}
        self.signals: list[str] = []
        self.images = {IMAGE}
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def create(self, configuration: dict[str, Any]) -> Container:
        number = len(self.containers) + len(self.removed)
        behaviour = self.behaviours[min(number, len(self.behaviours) - 1)]
        container = Container(f"{number:064d}", behaviour, configuration)
        self.containers[container.name] = container
        return container

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle of an answer is none of our business."""

    def close(self) -> None:
        for container in self.containers.values():
            container.started.set()
            container.end(0)
        self.shutdown()
        self.server_close()


class _Calls(BaseHTTPRequestHandler):
    server: FakeEngine
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def _answer(self, verb: str) -> None:
        url = urlsplit(re.sub(r"^/v[0-9.]+", "", self.path))
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}") if length else {}
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        parts = url.path.strip("/").split("/")
        action = parts[-1] if verb != "DELETE" else "remove"
        self.server.calls.append(action)
        self.server.queries[action] = query
        number = len(self.server.containers) + len(self.server.removed)
        coming = self.server.behaviours[min(number, len(self.server.behaviours) - 1)]
        container = self.server.containers.get(parts[1]) if len(parts) > 1 else None
        behaviour = container.behaviour if container else coming
        if action in behaviour.refusals:
            status, message = behaviour.refusals[action]
            if action == "create":
                self.server.removed.append("refused")
            self._send(status, {"message": message})
        elif parts[0] == "version":
            self._send(200, {"Version": "1", "ApiVersion": "1.41", "MinAPIVersion": "1.12"})
        elif parts[0] == "info":
            self._send(
                200, {"Driver": "overlay2", "CgroupVersion": "1", "NCPU": 2, "SecurityOptions": ["name=seccomp"]}
            )
        elif parts[0] == "_ping":
            self._send(200, "OK")
        elif parts[0] == "images":
            known = "/".join(parts[1:-1]) in self.server.images
            self._send(200, {"Id": IMAGE}) if known else self._send(404, {"message": "No such image"})
        elif parts[0] == "events":
            self._events()
        elif action == "create":
            self._send(201, {"Id": self.server.create(body).name, "Warnings": ["a warning"]})
        elif parts == ["containers", "json"]:
            self._send(200, [])
        elif container is None:
            self._send(404, {"message": "No such container"})
        else:
            self._on(container, action, query)

    def _on(self, container: Container, action: str, query: Mapping[str, str]) -> None:
        behaviour = container.behaviour
        if action == "attach":
            self._attach(container)
        elif action == "start":
            container.start()
            self._send(204, None)
        elif action == "json":
            self._send(200, {"Id": container.name, "Image": behaviour.image, "State": container.state()})
        elif action == "wait":
            if behaviour.cut:
                time.sleep(behaviour.seconds)
                self.close_connection = True
                return
            container.ended.wait(60)
            self._send(200, {"StatusCode": container.exit_code})
        elif action == "kill":
            self.server.signals.append(query["signal"])
            if query["signal"] in behaviour.signals:
                container.end(behaviour.signals[query["signal"]])
            self._send(204, None)
        elif action == "remove":
            container.started.set()
            container.end(137)
            self.server.removed.append(container.name)
            del self.server.containers[container.name]
            self._send(204, None)

    def _attach(self, container: Container) -> None:
        self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        self.close_connection = True
        log = container.behaviour.log
        self.wfile.flush()
        container.started.wait(60)
        with suppress(OSError):
            for start in range(0, len(log), 1000):
                piece = log[start : start + 1000]
                self.wfile.write(struct.pack(">BxxxL", 1, len(piece)) + piece)
            self.wfile.flush()
            container.ended.wait(60)

    def _events(self) -> None:
        actions = [
            action
            for container in self.server.containers.values()
            for action in (*container.behaviour.events, "die", "kill")
        ]
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with suppress(OSError):
            for action in actions:
                line = json.dumps({"Type": "container", "Action": action}).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, status: int, content: object) -> None:
        text = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(text)
