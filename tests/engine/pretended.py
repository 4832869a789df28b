"""Programs called `dockerd` and `podman` that answer as engines do, as far as the harness asks, and run nothing.

They are found on the search path, started, joined and stopped as the real ones, so that all of that can be tested
within milliseconds and on any machine. What they shall do and what they did lies in their folder.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = r"""
import http.server, json, os, signal, socketserver, sys
from pathlib import Path
folder, name = Path(sys.argv[1]), sys.argv[2]
socket = next(word.partition("unix://")[2] for word in sys.argv if "unix://" in word)
conf = Path(os.environ.get("CONTAINERS_CONF", os.devnull)).read_text()
def note(text):
    with (folder / "calls.txt").open("a") as stream:
        stream.write(f"{name}: {text}\n")
note("started")
refusals = folder / f"{name}.refusals"
left = int(refusals.read_text()) if refusals.exists() else 0
if left:
    refusals.write_text(str(left - 1))
    print("nothing to see\nno room for a", name, "\n", flush=True)
    sys.exit(9)
info = json.loads((folder / "info.json").read_text())
codes = json.loads((folder / "codes.json").read_text())
class Answer(http.server.BaseHTTPRequestHandler):
    def say(self, status, content=None):
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        word = self.path.partition("?")[0].removesuffix("/json").rsplit("/", 1)[-1]
        component = "Podman Engine" if name == "podman" else "Engine"
        known = {
            "_ping": "OK",
            "version": {"Version": "1.2", "ApiVersion": "1.41", "Components": [{"Name": component}]},
            "info": info,
            "c1": {"Id": "c1", "State": {"Pid": 0}},
        }
        self.say(200 if word in known else 404, known.get(word, {"message": "no such thing"}))
    def do_POST(self):
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        word = self.path.partition("?")[0].split("/", 2)[2]
        note(word)
        if word == "images/create":
            self.say(200, {"status": "sha256:12"})
        elif word == "containers/create":
            (folder / "container.json").write_bytes(content)
            self.say(201, {"Id": "c1"})
        elif word.endswith("wait"):
            self.say(200, {"StatusCode": codes["corrected" if conf else name]})
        elif word.endswith("start") and codes["corrected" if conf else name] is None:
            self.say(500, {"message": "the runtime refuses"})
        else:
            self.say(204)
    def do_DELETE(self):
        note("removed " + self.path.partition("?")[0].split("/", 2)[2])
        self.say(200, [])
    def log_message(self, *_): pass
    def address_string(self): return ""
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
def end(*_):
    note("ended")
    os._exit(0)
signal.signal(signal.SIGTERM, end)
Server(socket, Answer).serve_forever()
"""
INFO: dict[str, Any] = {
    "Architecture": "x86_64",
    "Runtimes": {"runc": {}},
    "DefaultRuntime": "runc",
    "SecurityOptions": ["name=seccomp,profile=default"],
}
KILLED = 137


@dataclass(frozen=True)
class Programs:
    """A folder of programs, and what was asked of them."""

    folder: Path

    def add(self, name: str, *, refusals: int = 0) -> None:
        """Put a program there, which ends with 9 at its first starts."""
        path = self.folder / name
        start = f'exec {sys.executable} -IS {self.folder}/program.py {self.folder} {name} "$@"'
        path.write_text(f"#!/bin/sh\n{start}\n")
        path.chmod(0o755)
        (self.folder / f"{name}.refusals").write_text(str(refusals))

    def end_containers_with(self, **codes: int | None) -> None:
        """With which code a killed container ends; None where no container starts at all."""
        usual: dict[str, int | None] = {"dockerd": KILLED, "podman": KILLED, "corrected": KILLED}
        (self.folder / "codes.json").write_text(json.dumps({**usual, **codes}))

    def describe(self, **info: object) -> None:
        """What the engines say of themselves."""
        (self.folder / "info.json").write_text(json.dumps({**INFO, **info}))

    @property
    def calls(self) -> list[str]:
        """What happened so far, in order."""
        path = self.folder / "calls.txt"
        return path.read_text().splitlines() if path.exists() else []

    def starts(self, name: str) -> int:
        """How often a program was started."""
        return self.calls.count(f"{name}: started")


def pretended_programs(folder: Path) -> Programs:
    """A folder for programs that answer well and are described as usual; none is there yet."""
    folder.mkdir()
    (folder / "program.py").write_text(_PROGRAM)
    programs = Programs(folder)
    programs.describe()
    programs.end_containers_with()
    return programs
