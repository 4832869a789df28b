"""One attempt: a container from creation to removal, and the signs it leaves."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from harness.base.errors import ImageError
from harness.base.ownership import owner_of
from harness.benchmarks.method_report import METHOD, own_measurements
from harness.engine.cgroup import ControlGroup, limit_is_kept
from harness.engine.confinement import Confinement, broken_walls, read_confinement
from harness.engine.engine import Engine
from harness.engine.orphans import discard_container
from harness.engine.processes import ContainerProcesses
from harness.execution.runs.classify import Signs, Stop
from harness.execution.runs.container import container_configuration, write_shown_files
from harness.execution.runs.disk import disk_fault, output_fault
from harness.execution.runs.faults import engine_faults, explain, is_program_fault, status_of
from harness.execution.runs.log import BoundedLog
from harness.execution.runs.request import RunRequest
from harness.execution.runs.watch import Running, Watched, watch
from harness.execution.runs.workspace import Collection, Workspace, collect


class ImageGone(Exception):
    """The engine does not have the image; it may have been restarted with another store."""


@dataclass
class Observed:
    """Everything one attempt left behind."""

    signs: Signs
    workspace: Workspace
    started: str
    wall_s: float = 0.0
    cpu_s: float | None = None
    peak_bytes: int | None = None
    oom_kills: int | None = None
    log_bytes: int = 0
    log_cut_bytes: int = 0
    collection: Collection = field(default_factory=lambda: Collection("", (), 0))
    memory_limit_kept: bool | None = None
    confinement: Confinement | None = None
    warnings: tuple[str, ...] = ()


def run_once(engine: Engine, request: RunRequest, workspace: Workspace, stop: threading.Event) -> Observed:
    """What one container left. Engine failures become signs; only a missing image is raised (`ImageGone`)."""
    limits = request.limits
    signs = Signs(memory_bytes=limits.memory_bytes, limit_s=limits.seconds)
    observation = Observed(signs, workspace, datetime.now(UTC).isoformat())
    try:
        with BoundedLog(workspace.log, limits.log_bytes) as log:
            _from_creation_to_removal(engine, request, observation, log, stop)
            observation.signs = replace(observation.signs, last_line=log.last_line)
        observation.log_bytes, observation.log_cut_bytes = log.total, log.cut
    except OSError as error:
        fault = f"the log could not be written: {error.strerror or error}"
        observation.signs = replace(observation.signs, engine_fault=observation.signs.engine_fault or fault)
    _take_output(observation, request)
    return observation


def _from_creation_to_removal(
    engine: Engine, request: RunRequest, observation: Observed, log: BoundedLog, stop: threading.Event
) -> None:
    api, workspace = engine.api, observation.workspace
    container = ""
    began = time.monotonic()
    try:
        answer = api.create_container_from_config(configuration_in(workspace, engine, request))
        container = answer["Id"]
        observation.warnings = tuple(answer.get("Warnings") or ())
        _run(engine, container, request, observation, log, stop)
    except engine_faults() as error:
        observation.signs = _fault(error, observation.signs, starting=not observation.wall_s)
    finally:
        observation.wall_s = time.monotonic() - began
        if container:
            # a lost engine keeps its container; its label lets a later clean-up find it
            with suppress(*engine_faults()):
                discard_container(engine, container)


def configuration_in(workspace: Workspace, engine: Engine, request: RunRequest) -> dict[str, Any]:
    """The engine's description of a container with its folders in this workspace, which are made ready."""
    write_shown_files(workspace.shown, request.limits)
    return container_configuration(
        request,
        engine.facts,
        out=workspace.out,
        shown=workspace.shown,
        run=workspace.name,
        owner=owner_of(workspace.folder.parent),
        user=workspace.user,
    )


def _run(
    engine: Engine,
    container: str,
    request: RunRequest,
    observation: Observed,
    log: BoundedLog,
    stop: threading.Event,
) -> None:
    api = engine.api
    # attached before the start, so that no byte of the log is missed
    connection = api.attach_socket(container, params={"stream": 1, "stdout": 1, "stderr": 1, "logs": 0})
    stream = getattr(connection, "_sock", connection)
    try:
        api.start(container)
        began = time.monotonic()
        pid = int(api.inspect_container(container)["State"].get("Pid") or 0)
        observation.confinement = read_confinement(pid)
        if faults := broken_walls(observation.confinement, engine.facts):
            fault = "the kernel does not enforce what the engine was asked for: "
            fault += f"{', '.join(faults)} (see harness doctor)"
            observation.signs = replace(observation.signs, engine_fault=fault)
            return
        processes, group = ContainerProcesses(pid, container), ControlGroup(pid, container)
        try:
            running = Running(api, engine.facts.name, container, stream, group, processes, began)
            ending = watch(running, limits=request.limits, workspace=observation.workspace, log=log, stop=stop)
        finally:
            group.close()
            processes.close()
        observation.wall_s = time.monotonic() - began
    finally:
        close_attachment(connection, stream)
    oom_flag, ran_s = False, ending.lived_s
    if not ending.engine_fault:
        last = api.inspect_container(container)
        _same_image(last, request)
        oom_flag = bool(last["State"].get("OOMKilled"))
        # a message that is late makes the engine's stamp late, a harness that slept makes ours late
        ran_s = min(
            (seconds for seconds in (ran_s, stamped_seconds(last["State"])) if seconds is not None), default=None
        )
        if ending.stopped is None and _looks_stopped(ending, request, observation.workspace):
            ending.engine_fault = _stopped_through_engine(api, container, observation.started)
    _add_signs(observation, ending, request, oom_flag, ran_s)


def stamped_seconds(state: dict[str, Any]) -> float | None:
    """How long a container ran, by the engine's own stamps; None where one is missing or they make no sense."""
    try:
        start, end = (datetime.fromisoformat(state[name]) for name in ("StartedAt", "FinishedAt"))
        seconds = (end - start).total_seconds()
    except (KeyError, TypeError, ValueError):
        return None
    # an engine stamps what has not happened with the year 1
    return seconds if start.year > 1 and seconds >= 0 else None


def _looks_stopped(ending: Watched, request: RunRequest, workspace: Workspace) -> bool:
    """Whether the end could be someone else's doing."""
    # what a method closed, or led to where nothing can be, is not seen, and no fault of the engine's
    are_seen = (os.path.exists(workspace.out / name) for name in request.required)  # noqa: PTH110
    return ending.exit_code != 0 or not all(are_seen)


def _stopped_through_engine(api: Any, container: str, started: str) -> str:
    """The fault, if the engine was told to stop the container or stopped it when it shut down; else empty.

    An engine that is being restarted stops its containers politely; what they then exit with looks exactly
    like a fault of the method. Only the engine's events tell, and those before the end are there at once.
    """
    since = int(datetime.fromisoformat(started).timestamp()) - 1
    events = api.events(
        since=since, until=int(time.time()) + 2, filters={"container": container, "type": "container"}, decode=True
    )
    try:
        for event in events:
            if event.get("Action") in ("kill", "stop"):
                return "the container was stopped through the engine, not by the harness"
            if event.get("Action") in ("die", "died"):
                break
    finally:
        events.close()
    return ""


def close_attachment(connection: Any, stream: Any) -> None:
    """Close a connection that was taken out of the client's hands, at all its layers."""
    response = getattr(connection, "_response", None)
    for layer in (response, connection, stream):
        if layer is not None:
            layer.close()


def _add_signs(
    observation: Observed, ending: Watched, request: RunRequest, oom_flag: bool, ran_s: float | None
) -> None:
    usage = ending.usage
    observation.cpu_s, observation.oom_kills = usage.cpu_seconds, usage.kills
    observation.peak_bytes = usage.peak_bytes
    observation.memory_limit_kept = limit_is_kept(usage, request.limits.memory_bytes)
    observation.signs = replace(
        observation.signs,
        exit_code=ending.exit_code,
        shortage=ending.shortage,
        oom_flag=oom_flag,
        peak_bytes=usage.peak_bytes,
        ran_s=ran_s,
        paused_s=ending.paused_s,
        stopped=ending.stopped,
        stop_detail=ending.stop_detail,
        engine_fault=ending.engine_fault,
    )


def _same_image(inspected: dict[str, Any], request: RunRequest) -> None:
    image_id = str(inspected.get("Image", ""))
    if image_id.removeprefix("sha256:") != request.image_id.removeprefix("sha256:"):
        raise ImageError(
            "the engine ran another image than the one that was asked for",
            where=f"{request.image}: asked for {request.image_id}, ran {image_id}",
            todo="build the image again (harness image build)",
        )


def _fault(error: Exception, signs: Signs, *, starting: bool) -> Signs:
    words = explain(error)
    if status_of(error) == 404 and "image" in words.lower():
        raise ImageGone(words) from error
    if starting and is_program_fault(words):
        return replace(signs, start_fault=words, exit_code=127)
    return replace(signs, engine_fault=f"the engine failed: {words}")


def _take_output(observation: Observed, request: RunRequest) -> None:
    """Collect what may be collected, and let the method's own report fill what the kernel did not tell."""
    signs, workspace = observation.signs, observation.workspace
    try:
        # before anything is removed: what filled the disk for the container fills it still
        signs = replace(signs, disk_fault=disk_fault(workspace))
        fault = output_fault(workspace, request.limits, ended=True)
        if fault and signs.stopped is None:
            # too fast to be stopped, but too large all the same; whatever else went wrong followed from that
            signs = replace(signs, stopped=Stop.OUTPUT, stop_detail=fault)
        observation.collection = collect(
            workspace, request.limits, request.required, request.expected, traces=request.traces
        )
        signs = replace(signs, output_fault=observation.collection.fault)
    except OSError as error:
        fault = signs.disk_fault or f"the output could not be taken: {error.strerror or error}"
        signs = replace(signs, engine_fault=signs.engine_fault or fault)
    observation.signs = signs
    # the kernel's counts are not the method's to overrule
    report = workspace.collected / METHOD
    peak, seconds, warnings = own_measurements(report, wall_s=observation.wall_s, cpus=os.cpu_count() or 1)
    observation.peak_bytes = peak if observation.peak_bytes is None else observation.peak_bytes
    observation.cpu_s = seconds if observation.cpu_s is None else observation.cpu_s
    observation.warnings += warnings
