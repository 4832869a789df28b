"""A served engine that a person keeps running, for `docker` and `podman` beside the harness.

No process waits for that: a note in the service's folder tells the last user of the engine not to stop it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import EngineError
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.ownership import boot
from harness.engine.engine import Engine
from harness.engine.programs import docker_storage
from harness.engine.service import Service, alone, services_folder, starting, stop
from harness.engine.sockets import chosen_by_user, silence, usual_places

_DOCKER, _PODMAN = "docker", "podman"


@dataclass(frozen=True)
class Reached:
    """An engine for other programs."""

    name: str
    socket: Path
    kept: bool

    @property
    def variable(self) -> tuple[str, str]:
        """The variable that tells an engine's client of it, and its value."""
        name = "CONTAINER_HOST" if self.name == _PODMAN else "DOCKER_HOST"
        return name, f"unix://{self.socket}"


@dataclass(frozen=True)
class Stopped:
    """An engine that is kept no longer; `in_use` where somebody uses it, who will stop it."""

    socket: Path
    in_use: bool


def keep(layout: Layout, engine: Engine, environment: Mapping[str, str]) -> Reached:
    """Let a served engine run on. One that somebody else serves is left as it is."""
    for service in served_services(layout.cache, environment):
        if service.socket == engine.socket:
            write_atomic(service.kept, boot())
            return Reached(engine.name, engine.socket, kept=True)
    return Reached(engine.name, engine.socket, kept=False)


def reach(layout: Layout, environment: Mapping[str, str]) -> Reached:
    """The engine that answers now, in the order in which the harness looks; none is started for it."""
    chosen = chosen_by_user(environment)
    candidates = [chosen] if chosen else usual_places(environment)
    services = served_services(layout.cache, environment)
    kept = {service.socket: service for service in services if service.is_kept}
    # an explicit choice is never overruled
    for socket in [*(candidate.path for candidate in candidates), *(() if chosen else kept)]:
        if not silence(socket):
            with Engine(socket) as engine:
                return Reached(engine.name, socket, kept=socket in kept)
    raise EngineError(
        "no engine answers",
        where=", ".join(str(candidate.path) for candidate in candidates),
        todo=f"start it, or unset {chosen.source}" if chosen else "start one: harness engine start",
    )


def release(layout: Layout, environment: Mapping[str, str]) -> list[Stopped]:
    """Keep no engine of this cache any longer, and stop those that nobody uses."""
    stopped = []
    for service in served_services(layout.cache, environment):
        if service.is_kept:
            with starting(service):
                service.kept.unlink(missing_ok=True)
                with alone(service) as is_alone:
                    if is_alone:
                        stop(service)
            stopped.append(Stopped(service.socket, in_use=not is_alone))
    return stopped


def served_services(cache: Path, environment: Mapping[str, str]) -> list[Service]:
    """The engines that the harness has served for this cache, running or not."""
    folder = services_folder(cache, environment)
    if not folder.is_dir():
        return []
    return [
        Service(path.name, (), path, storage=docker_storage(cache) if path.name == _DOCKER else None)
        for path in sorted(folder.iterdir())
        if (path / "start.lock").exists()
    ]
