"""Sockets an engine may listen on, and whether one answers, without loading a client library."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import EngineError

_VARIABLES = ("DOCKER_HOST", "CONTAINER_HOST")


@dataclass(frozen=True)
class SocketCandidate:
    """A socket, and why it is tried."""

    path: Path
    source: str


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def chosen_by_user(environment: Mapping[str, str]) -> SocketCandidate | None:
    """The socket the user names in the environment; an address that cannot work is an error, not a hint."""
    for variable in _VARIABLES:
        address = environment.get(variable, "")
        if not address:
            continue
        scheme, separator, rest = address.partition("://")
        if not separator and address.startswith("/"):
            return SocketCandidate(Path(address), f"${variable}")
        if scheme not in ("unix", "http+unix") or not rest:
            raise EngineError(
                f"{variable} names an engine elsewhere: {address}",
                where=f"${variable}",
                todo="runs mount folders of this machine: name a socket of it (unix:///…) or unset the variable",
            )
        return SocketCandidate(Path(rest), f"${variable}")
    return None


def usual_places(environment: Mapping[str, str]) -> list[SocketCandidate]:
    """Where engines listen by default, the machine's before the user's."""
    places = [Path("/var/run/docker.sock"), Path("/run/podman/podman.sock")]
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        places += [Path(runtime) / "docker.sock", Path(runtime) / "podman" / "podman.sock"]
    return [SocketCandidate(path, "usual place") for path in places]


def silence(path: Path, *, timeout: float = 5.0) -> str:
    """Why the engine behind `path` does not answer; empty when it does."""
    connection = _UnixConnection(path, timeout)
    try:
        connection.request("GET", "/_ping")
        status = connection.getresponse().status
    except FileNotFoundError:
        return "no such socket"
    except PermissionError:
        return f"no permission: add your user to the group of {path}, or use rootless Podman"
    except ConnectionRefusedError:
        return "nobody listens"
    except (OSError, http.client.HTTPException) as error:
        return f"no answer: {str(error) or type(error).__name__}"
    finally:
        connection.close()
    return "" if status == http.client.OK else f"answered with HTTP status {status}"


def exists(candidate: SocketCandidate) -> bool:
    """Whether there is such a socket; where we may not look, there may be one."""
    try:
        return candidate.path.exists()
    except PermissionError:
        return True
