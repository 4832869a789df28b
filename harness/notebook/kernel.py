"""One kernel from its container's creation to its removal: hardened like a run, reachable through a folder only.

The container has no network. It ends with its kernel, with this process (however that ends: the container sees its
standard input close), and when it is asked to.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.base.errors import EngineError, HarnessError
from harness.base.files import write_json
from harness.base.layout import Layout
from harness.base.logs import log_tail
from harness.engine import Engine
from harness.engine.orphans import discard_container
from harness.execution.inputs import job_folder, make_inputs, planned_weights
from harness.execution.runs import INIT, Limits, Mount, RunRequest
from harness.execution.runs.attempt import close_attachment, configuration_in
from harness.execution.runs.faults import engine_faults, explain
from harness.execution.runs.log import BoundedLog, Frames
from harness.execution.runs.user import container_user
from harness.execution.runs.workspace import Workspace, make_readable, new_workspace, temporary_folders
from harness.execution.tasks import limits_of
from harness.methods.card import MethodCard, load_method
from harness.notebook.bridge import Bridge, find_sockets
from harness.notebook.connection import Connection, write_private
from harness.notebook.image import NotebookImage
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import make_plan, pinned

_START = Path(__file__).parent / "inside" / "start.py"
_TOOLS = "/opt/notebook"
# what the kernel needs beside the method
_KERNEL_MEMORY = 512 << 20
_KERNEL_PROCESSES = 64
_READY_S = 120.0
_LOOK_S = 0.05
_TAIL_BYTES = 2000
_LOG_BYTES = 1 << 20
_PIECE = 1 << 16


@dataclass(frozen=True)
class Opened:
    """A kernel that listens, and a task that is done when its container has ended."""

    connection: Connection
    file: Path
    container: str
    log: Path
    ended: asyncio.Task[None]


def pin(layout: Layout, job: Job, mirrors: Sequence[Path] = ()) -> PlannedJob:
    """The job with its checksums, as a plan would hold it."""
    (cell,) = make_plan(layout, "notebook", [job], mirrors=mirrors).cells
    return pinned(cell)


@asynccontextmanager
async def open_kernel(
    engine: Engine,
    layout: Layout,
    planned: PlannedJob,
    image: NotebookImage,
    connection: Connection,
    *,
    mirrors: Sequence[Path] = (),
) -> AsyncIterator[Opened]:
    """A kernel with the job loaded, until the block ends; its container and its folders are gone then."""
    card = load_method(layout, planned.job.method)
    with _folders(engine, layout) as (workspace, inputs, tools):
        weights = planned_weights(layout, planned)
        arrangement = make_inputs(layout, planned, card.inputs, mirrors)
        job_folder(arrangement, inputs, planned, card, weights=weights)
        shutil.copyfile(_START, tools / _START.name)
        write_json(tools / "connection.json", connection.inside())
        for folder in (inputs, tools):
            make_readable(folder)
        configuration = _configuration(engine, workspace, planned, image, card, inputs, tools)
        async with _running(engine, configuration, workspace.log) as (container, ended):
            bridge = Bridge(await _sockets(workspace, ended))
            try:
                listening = await bridge.listen(connection)
                file = workspace.folder / "connection.json"
                write_private(file, listening.outside())
                yield Opened(listening, file, container, workspace.log, ended)
            finally:
                await bridge.close()


@contextmanager
def _folders(engine: Engine, layout: Layout) -> Iterator[tuple[Workspace, Path, Path]]:
    """What the container sees as /out, /in and the notebook's own folder; all removed afterwards."""
    work = layout.local / "work"
    workspace = new_workspace(work, container_user(engine.facts, uid=os.geteuid(), gid=os.getegid()))
    try:
        with temporary_folders(work, "in", "notebook") as (inputs, tools):
            yield workspace, inputs, tools
    finally:
        workspace.discard()


def _configuration(
    engine: Engine,
    workspace: Workspace,
    planned: PlannedJob,
    image: NotebookImage,
    card: MethodCard,
    inputs: Path,
    tools: Path,
) -> dict[str, Any]:
    """A run's container, but for the program, a little more room, and an end that this process holds."""
    request = RunRequest(
        image=image.name,
        image_id=image.image_id,
        in_folder=inputs,
        work=workspace.folder.parent,
        limits=_limits(card),
        seed=planned.job.fit_seed,
        labels={"permafrost.notebook": planned.key},
        mounts=(Mount(tools, _TOOLS),),
        entrypoint=(*INIT, "python3", f"{_TOOLS}/{_START.name}"),
        command=(image.language,),
    )
    configuration = configuration_in(workspace, engine, request)
    configuration["HostConfig"]["AutoRemove"] = True
    return {**configuration, "AttachStdin": True, "OpenStdin": True, "StdinOnce": True}


def _limits(card: MethodCard) -> Limits:
    limits = limits_of(card)
    return replace(
        limits,
        memory_bytes=limits.memory_bytes + _KERNEL_MEMORY,
        processes=limits.processes + _KERNEL_PROCESSES,
    )


@asynccontextmanager
async def _running(
    engine: Engine, configuration: dict[str, Any], log: Path
) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """A started container, and a task that ends with it."""
    api = engine.api
    container, attachment, stream = "", None, None
    try:
        try:
            container = str(api.create_container_from_config(configuration)["Id"])
            # attached before the start, so that no fault is missed; its closing is what ends an orphan
            options = {"stream": 1, "stdin": 1, "stderr": 1, "logs": 0}
            attachment = api.attach_socket(container, params=options)
            stream = getattr(attachment, "_sock", attachment)
            api.start(container)
        except engine_faults() as error:
            raise EngineError(
                f"the engine can't start the kernel's container: {explain(error)}",
                where=str(engine.socket),
                todo="run `harness doctor`",
            ) from error
        stream.setblocking(False)
        ended = asyncio.create_task(_listen(stream, log))
        try:
            yield container, ended
        finally:
            ended.cancel()
            await asyncio.wait([ended])
    finally:
        close_attachment(attachment, stream)
        if container:
            # a lost engine keeps its container; its label lets a later clean-up find it
            with suppress(*engine_faults()):
                discard_container(engine, container)


async def _listen(stream: socket.socket, path: Path) -> None:
    """Keep the container's error output in a log until its end; what cells print goes to their clients."""
    loop, frames = asyncio.get_running_loop(), Frames()
    with BoundedLog(path, _LOG_BYTES) as log, suppress(ConnectionError):
        while data := await loop.sock_recv(stream, _PIECE):
            for piece in frames.feed(data):
                log.write(piece)


def last_words(log: Path) -> str:
    """The end of the log of a kernel's container."""
    return log_tail(log, _TAIL_BYTES).strip()


async def _sockets(workspace: Workspace, ended: asyncio.Task[None]) -> dict[str, int]:
    """The kernel's sockets once it listens; an error with its last words if it never does."""
    deadline = time.monotonic() + _READY_S
    while (sockets := find_sockets(workspace.out)) is None:
        await asyncio.wait([ended], timeout=_LOOK_S)
        if ended.done() or time.monotonic() > deadline:
            how = "ended before it listened" if ended.done() else f"does not listen after {_READY_S:.0f} s"
            raise HarnessError(
                f"the kernel {how}; it said:\n{last_words(workspace.log) or '(nothing)'}",
                where="inside the method's container",
                todo="its last lines say why; whether the method itself works, `harness run` shows",
            )
    return sockets
