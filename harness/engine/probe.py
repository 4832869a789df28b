"""A control run: proves in a second that the engine starts, walls in, limits, kills and removes a container.

It needs no image of ours: a program of a few machine instructions is packed into an image on the spot. It tries
what no container may do, ends with the number of the first thing that was not refused, and else waits. While it
waits, the kernel is asked which limits and rights it really holds.
"""

from __future__ import annotations

import io
import json
import struct
import tarfile
import time
from contextlib import suppress
from dataclasses import dataclass

from harness.base.errors import ImageError
from harness.engine.cgroup import ControlGroup, limit_is_kept
from harness.engine.confinement import Confinement, broken_walls, read_confinement
from harness.engine.engine import Engine
from harness.engine.facts import EngineFacts
from harness.engine.prohibitions import FORBIDDEN, trying_program
from harness.engine.walls import walls

CONTROL_IMAGE = "localhost/permafrost/control"
CONTROL_LABEL = "permafrost.control"
_LIMIT_BYTES = 64 << 20
_ADDRESS = 0x400000
# x86-64: mov eax, 34 (pause); syscall; jmp to the start
_PAUSE = bytes.fromhex("b8 22 00 00 00  0f 05  eb f7")
# xor edi, edi; mov eax, 60 (exit); syscall
_EXIT = bytes.fromhex("31 ff  b8 3c 00 00 00  0f 05")


@dataclass(frozen=True)
class ControlRun:
    """How the control run went. What is None could not be observed; `let_through` names what was not refused."""

    ok: bool
    detail: str
    seconds: float = 0.0
    memory_limit_kept: bool | None = None
    confinement: Confinement | None = None
    let_through: str = ""
    broken: tuple[str, ...] = ()


def static_program(instructions: bytes) -> bytes:
    """A static x86-64 program: one header, one segment, the instructions."""
    headers = 64 + 56
    size = headers + len(instructions)
    identity = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8)
    header = identity + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, _ADDRESS + headers, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _ADDRESS, _ADDRESS, size, size, 0x1000)
    return header + segment + instructions


def control_run(engine: Engine) -> ControlRun:
    """How a control run goes: start the waiting program under a memory limit, look, kill it, remove everything."""
    import docker.errors

    if engine.facts.architecture not in ("x86_64", "amd64"):
        return ControlRun(ok=True, detail=f"no control program for {engine.facts.architecture}: not tried")
    faults = (docker.errors.DockerException, OSError)
    start = time.monotonic()
    api = engine.api
    image = container = None
    try:
        # its `/wait` tries what is forbidden and, where all is refused, waits for ever
        tree = _archive("wait", static_program(trying_program() + _PAUSE))
        image = import_tree(engine, tree, CONTROL_IMAGE.removeprefix("localhost/"))
        container = api.create_container_from_config(_configuration(image, engine.facts))["Id"]
        api.start(container)
        state = api.inspect_container(container)["State"]
        pid = int(state.get("Pid") or 0)
        confinement = read_confinement(pid)
        group = ControlGroup(pid, container)
        limit_kept = limit_is_kept(group.read(), _LIMIT_BYTES)
        group.close()
        with suppress(docker.errors.APIError):
            # it may have ended by itself
            api.kill(container)
        code = api.wait(container, timeout=30)["StatusCode"]
        if code not in (137, *range(1, len(FORBIDDEN) + 1)):
            return ControlRun(ok=False, detail=f"a killed container ended with code {code}, not 137")
        return ControlRun(
            True,
            "started, looked at, killed, removed",
            time.monotonic() - start,
            limit_kept,
            confinement,
            "" if code == 137 else FORBIDDEN[code - 1].name,
            tuple(broken_walls(confinement, engine.facts)),
        )
    except (*faults, ImageError) as error:
        return ControlRun(ok=False, detail=str(getattr(error, "explanation", None) or error))
    finally:
        with suppress(*faults):
            if container:
                api.remove_container(container, force=True, v=True)
            if image:
                api.remove_image(image, force=True)


def _configuration(image: str, facts: EngineFacts) -> dict[str, object]:
    return {
        "Image": image,
        "Entrypoint": ["/wait"],
        "User": "65534:65534",
        "Labels": {CONTROL_LABEL: "yes"},
        "HostConfig": {
            **walls(facts),
            "Memory": _LIMIT_BYTES,
            "MemorySwap": _LIMIT_BYTES,
            "LogConfig": {"Type": "none", "Config": {}},
        },
    }


def exiting_archive() -> bytes:
    """The tree of an image whose `/end` ends at once, well: the smallest thing a container can do."""
    return _archive("end", static_program(_EXIT))


def _archive(name: str, program: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(program), 0o755
        archive.addfile(entry, io.BytesIO(program))
        for place in ("proc", "sys", "dev", "etc", "tmp"):
            folder = tarfile.TarInfo(place)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
    return buffer.getvalue()


def import_tree(engine: Engine, archive: bytes, name: str) -> str:
    """Import a tar of files under `name`; returns the image's id, which is what can be relied on."""
    # the name is spelt out, because the engines complete short names differently
    answer = engine.api.import_image_from_data(archive, repository=f"localhost/{name}", tag="latest")
    return imported_id(answer)


def imported_id(answer: str) -> str:
    """The id at the end of the engine's stream of messages."""
    for line in reversed(answer.strip().splitlines()):
        status = json.loads(line)
        if "error" in status:
            raise ImageError(f"the engine could not import an image: {status['error']}")
        if str(status.get("status", "")).startswith("sha256:"):
            return str(status["status"])
    raise ImageError("the engine did not name the image it imported")
