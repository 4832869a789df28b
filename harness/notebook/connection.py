"""Connection files: what a Jupyter client and a kernel must agree on, on either side of the container's wall.

A client connects to ports of this machine's own address; the kernel, which has no network, listens on sockets in a
folder. Both sign their messages with the same key.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError
from harness.base.files import read_json, write_json
from harness.base.layout import DATA_VARIABLE
from harness.planning.jobs import Job

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
_SIGNATURE = "hmac-sha256"
_LAST_PORT = 65535
# of this machine alone
_OWN_ADDRESSES = ("127.0.0.1", "::1", "localhost")
# where the kernel's sockets are: /out is the one folder that a container may write to
_SOCKETS = "/out/kernel"
# what moves datasets, cache and results
_FOLDERS = (DATA_VARIABLE, "PERMAFROST_CACHE", "PERMAFROST_RESULTS")


@dataclass(frozen=True)
class Connection:
    """Where a client connects to. A port of 0 is one to be chosen."""

    address: str
    ports: Mapping[str, int]
    key: str = field(repr=False)
    signature: str = _SIGNATURE

    def with_ports(self, ports: Mapping[str, int]) -> Connection:
        """The same connection once its ports are chosen."""
        return replace(self, ports=dict(ports))

    def outside(self) -> dict[str, Any]:
        """The file for the client."""
        return self._file("tcp", self.address, self.ports)

    def inside(self) -> dict[str, Any]:
        """The file for the kernel: its ports are the endings of its sockets' names."""
        return self._file("ipc", _SOCKETS, {name: number for number, name in enumerate(CHANNELS, 1)})

    def _file(self, transport: str, address: str, ports: Mapping[str, int]) -> dict[str, Any]:
        return {
            "transport": transport,
            "ip": address,
            **{f"{name}_port": ports[name] for name in CHANNELS},
            "key": self.key,
            "signature_scheme": self.signature,
        }


def socket_names() -> dict[str, str]:
    """Channel -> the name of its socket in the folder that the container sees as /out."""
    return {name: f"{Path(_SOCKETS).name}-{number}" for number, name in enumerate(CHANNELS, 1)}


def new_connection() -> Connection:
    """A connection to free ports of this machine, with a new key."""
    return Connection(_OWN_ADDRESSES[0], dict.fromkeys(CHANNELS, 0), secrets.token_hex(32))


def read_connection(path: Path) -> Connection:
    """The connection that a client has prepared, as JupyterLab does."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise _unusable(path, "is not a connection file")
    if content.get("transport", "tcp") != "tcp":
        raise _unusable(path, f"asks for transport '{content['transport']}'")
    try:
        ports = {name: int(content[f"{name}_port"]) for name in CHANNELS}
        address, key = str(content["ip"]), str(content["key"])
    except KeyError as error:
        raise _unusable(path, f"lacks a usable {error}") from error
    except (TypeError, ValueError, OverflowError):
        raise _unusable(path, "has a port that is no number") from None
    if others := [port for port in ports.values() if not 0 <= port <= _LAST_PORT]:
        raise _unusable(path, f"has a port outside 0 to {_LAST_PORT}: {others[0]}")
    if address not in _OWN_ADDRESSES:
        raise _unusable(path, f"asks to listen at '{address}', where other machines may reach it")
    if not key:
        raise _unusable(path, "has no key: anybody could send cells")
    return Connection(address, ports, key, str(content.get("signature_scheme", _SIGNATURE)))


def write_private(path: Path, content: Mapping[str, Any]) -> None:
    """Write a connection file; who can read it can run code in the container."""
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=1) + "\n")


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError(
        f"the connection file {why}",
        where=str(path),
        todo="let a Jupyter client write it (transport tcp, ip 127.0.0.1), or leave --connection-file out",
    )


def register(job: Job, title: str, language: str, arguments: Sequence[str]) -> Path:
    """Write a kernel specification that calls `harness notebook` with these arguments; returns its folder."""
    folder = _data_folder() / "kernels" / f"permafrost-{job.method.replace('_', '-')}"
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "harness", "notebook", *arguments, "--connection-file", "{connection_file}"]
    write_json(
        folder / "kernel.json",
        {
            "argv": command,
            "display_name": f"Permafrost: {title}",
            # what cells are written in: R is reached through magics of IPython
            "language": "octave" if language == "octave" else "python",
            # a signal would reach the harness, not the kernel
            "interrupt_mode": "message",
            # the folders of this command, which a client is not told of, wherever it starts the kernel
            "env": {
                name: str(Path(text).expanduser().absolute())
                for name, text in os.environ.items()
                if name in _FOLDERS and text
            },
            "metadata": {"permafrost": {"job": job.label}},
        },
    )
    return folder


def _data_folder() -> Path:
    """Where Jupyter looks for a user's own files on Linux."""
    if folder := os.environ.get("JUPYTER_DATA_DIR"):
        return Path(folder)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "jupyter"
