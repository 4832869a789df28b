"""One attempt: a container from creation to removal, and the signs it leaves."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.engine.cgroup import ControlGroup, Usage, limit_is_kept
from harness.engine.confinement import Confinement, broken_walls, read_confinement
from harness.engine.engine import Engine
from harness.engine.orphans import discard_container
from harness.errors import ImageError
from harness.ownership import owner_of
from harness.runs.classify import Signs, Stop
from harness.runs.container import container_configuration
from harness.runs.faults import engine_faults, explain, is_program_fault, status_of
from harness.runs.log import BoundedLog
from harness.runs.request import RunRequest
from harness.runs.shown import show
from harness.runs.watch import Watched, output_fault, watch
from harness.runs.workspace import Collection, Workspace, collect

_LARGEST_REPORT = 1 << 20
_INSENSIBLE = 1e18


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
    log_bytes: int = 0
    log_cut_bytes: int = 0
    collection: Collection = field(default_factory=lambda: Collection("", (), 0))
    memory_limit_kept: bool | None = None
    confinement: Confinement | None = None
    warnings: tuple[str, ...] = ()


def run_once(engine: Engine, request: RunRequest, workspace: Workspace, stop: threading.Event) -> Observed:
    """Create, start, watch, look at, remove. Engine failures become signs; only the image's absence is raised."""
    api = engine.api
    limits = request.limits
    seen = Observed(Signs(memory_bytes=limits.memory_bytes), workspace, datetime.now(UTC).isoformat())
    container = ""
    began = time.monotonic()
    with BoundedLog(workspace.log, limits.log_bytes) as log:
        try:
            show(workspace.shown, limits)
            configuration = container_configuration(
                request,
                engine.facts,
                out=workspace.out,
                shown=workspace.shown,
                run=workspace.name,
                owner=owner_of(workspace.folder.parent),
                user=workspace.user,
            )
            created = api.create_container_from_config(configuration)
            container = created["Id"]
            seen.warnings = tuple(created.get("Warnings") or ())
            seen = _run(engine, container, request, seen, log, stop)
        except engine_faults() as error:
            seen.signs = _fault(error, request, seen.signs, starting=not seen.wall_s)
        finally:
            seen.wall_s = time.monotonic() - began
            if container:
                # a lost engine keeps its container; its label lets a later clean-up find it
                with suppress(*engine_faults()):
                    discard_container(engine, container)
        seen.signs = replace(seen.signs, last_line=log.last_line, seconds=seen.wall_s)
    seen.log_bytes, seen.log_cut_bytes = log.total, log.cut
    _take_output(seen, request)
    return seen


def _run(
    engine: Engine,
    container: str,
    request: RunRequest,
    seen: Observed,
    log: BoundedLog,
    stop: threading.Event,
) -> Observed:
    api = engine.api
    # attached before the start, so that no byte of the log is missed
    attached = api.attach_socket(container, params={"stream": 1, "stdout": 1, "stderr": 1, "logs": 0})
    stream = getattr(attached, "_sock", attached)
    try:
        api.start(container)
        began = time.monotonic()
        state = api.inspect_container(container)["State"]
        seen.confinement = read_confinement(int(state.get("Pid") or 0))
        if broken := broken_walls(seen.confinement, engine.facts):
            seen.signs = replace(seen.signs, engine_fault=_unwalled(broken))
            return seen
        group = ControlGroup(int(state.get("Pid") or 0), container)
        try:
            watched = watch(
                api,
                engine.facts.name,
                container,
                stream,
                group,
                limits=request.limits,
                workspace=seen.workspace,
                log=log,
                began=began,
                stop=stop,
            )
        finally:
            group.close()
        seen.wall_s = time.monotonic() - began
    finally:
        _close(attached, stream)
    oom_flag = False
    if not watched.engine_fault:
        last = api.inspect_container(container)
        oom_flag = bool(last["State"].get("OOMKilled"))
        _same_image(last, request)
        if watched.stopped is None and _looks_stopped(watched, request, seen.workspace):
            watched.engine_fault = _stopped_through_engine(api, container, seen.started)
    return _with_signs(seen, watched, request, oom_flag)


def _unwalled(broken: list[str]) -> str:
    return f"the kernel does not enforce what the engine was asked for: {', '.join(broken)} (see harness doctor)"


def _looks_stopped(watched: Watched, request: RunRequest, workspace: Workspace) -> bool:
    """Whether the end could be someone else's doing."""
    return watched.exit_code != 0 or any(not (workspace.out / name).exists() for name in request.required)


def _stopped_through_engine(api: Any, container: str, started: str) -> str:
    """In words, if the engine itself was told to end the container, or ended it on its own way out.

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


def _close(attached: Any, stream: Any) -> None:
    """Close a connection that was taken out of the client's hands, at all its layers."""
    response = getattr(attached, "_response", None)
    for layer in (response, attached, stream):
        if layer is not None:
            layer.close()


def _with_signs(seen: Observed, watched: Watched, request: RunRequest, oom_flag: bool) -> Observed:
    usage: Usage = watched.usage
    seen.cpu_s = usage.cpu_seconds
    seen.memory_limit_kept = limit_is_kept(usage, request.limits.memory_bytes)
    kills = usage.kills
    if watched.out_of_memory and not kills:
        kills = 1
    seen.signs = replace(
        seen.signs,
        exit_code=watched.exit_code,
        oom_flag=oom_flag,
        oom_kills=kills,
        peak_bytes=usage.peak_bytes,
        stopped=watched.stopped,
        stop_detail=watched.stop_detail,
        engine_fault=watched.engine_fault,
    )
    return seen


def _same_image(inspected: dict[str, Any], request: RunRequest) -> None:
    ran = str(inspected.get("Image", ""))
    if ran.removeprefix("sha256:") != request.image_id.removeprefix("sha256:"):
        raise ImageError(
            "the engine ran another image than the one that was asked for",
            where=f"{request.image}: asked for {request.image_id}, ran {ran}",
            todo="build the image again (harness image build)",
        )


def _fault(error: Exception, request: RunRequest, signs: Signs, *, starting: bool) -> Signs:
    words = explain(error)
    if status_of(error) == 404 and "image" in words.lower():
        raise ImageGone(words) from error
    if starting and is_program_fault(words):
        return replace(signs, start_fault=words, exit_code=127)
    return replace(signs, engine_fault=f"the engine failed: {words}")


def _take_output(seen: Observed, request: RunRequest) -> None:
    """Collect what may be collected, and let the method's own report fill what could not be observed."""
    signs, workspace = seen.signs, seen.workspace
    fault = output_fault(workspace, request.limits)
    if fault and signs.stopped is None:
        # too fast to be stopped, but too large all the same; whatever else went wrong followed from that
        signs = replace(signs, stopped=Stop.OUTPUT, stop_detail=fault)
    seen.collection = collect(workspace, request.limits, request.required, request.expected)
    peak, seconds = _own_report(workspace.collected / "method.json")
    known = [value for value in (signs.peak_bytes, peak) if value is not None]
    spent = [value for value in (seen.cpu_s, seconds) if value is not None]
    seen.cpu_s = max(spent, default=None)
    seen.signs = replace(signs, peak_bytes=max(known, default=None), output_fault=seen.collection.fault)


def _own_report(path: Path) -> tuple[int | None, float | None]:
    """Peak memory and CPU seconds as the method measured them; anything odd is as good as nothing."""
    try:
        if path.stat().st_size > _LARGEST_REPORT:
            return None, None
        report = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None, None
    if not isinstance(report, dict):
        return None, None
    peak = _sensible(report.get("peak_memory_bytes"))
    return None if peak is None else int(peak), _sensible(report.get("cpu_seconds"))


def _sensible(value: object) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _INSENSIBLE:
        return float(value)
    return None
