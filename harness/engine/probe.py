"""A control run: proves in a second that the engine starts, limits, kills and removes a container.

It needs no image of ours: a program of three machine instructions that only waits is packed into an
image on the spot. While it waits, the kernel is asked which memory limit it really holds.
"""

from __future__ import annotations

import io
import json
import struct
import tarfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.engine.cgroup import ControlGroup, limit_is_kept

if TYPE_CHECKING:
    from harness.engine.engine import Engine

_LIMIT_BYTES = 64 << 20
_ADDRESS = 0x400000
# x86-64: mov eax, 34 (pause); syscall; jmp to the start
_PAUSE = bytes.fromhex("b8220000000f05ebf7")


@dataclass(frozen=True)
class ControlRun:
    """How the control run went. `memory_limit_kept` is None where it could not be observed."""

    ok: bool
    detail: str
    seconds: float = 0.0
    memory_limit_kept: bool | None = None


def waiting_program() -> bytes:
    """A static x86-64 program that waits for ever: one header, one segment, three instructions."""
    headers = 64 + 56
    size = headers + len(_PAUSE)
    identity = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8)
    header = identity + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, _ADDRESS + headers, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _ADDRESS, _ADDRESS, size, size, 0x1000)
    return header + segment + _PAUSE


def control_run(engine: Engine) -> ControlRun:
    """Start the waiting program under a memory limit, look, kill it, remove everything."""
    import docker.errors
    import requests

    if engine.facts.architecture not in ("x86_64", "amd64"):
        return ControlRun(ok=True, detail=f"no control program for {engine.facts.architecture}: not tried")
    began = time.monotonic()
    api = engine.api
    image = container = None
    try:
        answer = api.import_image_from_data(_image_tar(), repository="localhost/permafrost/control")
        image = _imported(answer)
        container = api.create_container_from_config(_configuration(image, init=engine.facts.init))["Id"]
        api.start(container)
        state = api.inspect_container(container)["State"]
        if not state.get("Running"):
            return ControlRun(ok=False, detail=f"it did not stay: exit code {state.get('ExitCode')}")
        group = ControlGroup(int(state.get("Pid") or 0))
        kept = limit_is_kept(group.read(), _LIMIT_BYTES)
        group.close()
        api.kill(container)
        code = api.wait(container, timeout=30)["StatusCode"]
        if code != 137:
            return ControlRun(ok=False, detail=f"a killed container ended with code {code}, not 137")
        return ControlRun(True, "started, looked at, killed, removed", time.monotonic() - began, kept)
    except (docker.errors.DockerException, requests.RequestException, OSError, ValueError) as error:
        return ControlRun(ok=False, detail=str(getattr(error, "explanation", None) or error))
    finally:
        with suppress(docker.errors.DockerException, requests.RequestException, OSError):
            if container:
                api.remove_container(container, force=True, v=True)
            if image:
                api.remove_image(image, force=True)


def _configuration(image: str, *, init: bool) -> dict[str, object]:
    return {
        "Image": image,
        "Entrypoint": ["/wait"],
        "User": "65534:65534",
        "HostConfig": {
            "NetworkMode": "none",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Memory": _LIMIT_BYTES,
            "MemorySwap": _LIMIT_BYTES,
            "Init": init,
            "LogConfig": {"Type": "none", "Config": {}},
        },
    }


def _image_tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        program = waiting_program()
        entry = tarfile.TarInfo("wait")
        entry.size, entry.mode = len(program), 0o755
        archive.addfile(entry, io.BytesIO(program))
        for name in ("proc", "sys", "dev", "etc", "tmp"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
    return buffer.getvalue()


def _imported(answer: str) -> str:
    """The id at the end of the engine's stream of messages."""
    for line in reversed(answer.strip().splitlines()):
        status = json.loads(line)
        if "error" in status:
            raise ValueError(str(status["error"]))
        if str(status.get("status", "")).startswith("sha256:"):
            return str(status["status"])
    raise ValueError("the engine did not name the imported image")
