"""The search for an engine: one the user names, one that answers, one we can serve, one we may install."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from harness.base.errors import EngineError
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.logs import last_line
from harness.engine import programs
from harness.engine.engine import Engine
from harness.engine.lease import Lease
from harness.engine.probe import control_run
from harness.engine.service import Service
from harness.engine.sockets import chosen_by_user, exists, silence, usual_places

log = logging.getLogger(__name__)

_COMMANDS = (
    "install Docker Engine or Podman and start it, for example (Debian, Ubuntu): "
    "apt-get install docker.io && systemctl start docker, or: apt-get install podman, "
    "or run this as root with installation allowed"
)
_PACKAGES = ("docker.io",)


def find_engine(
    layout: Layout,
    *,
    install: bool = False,
    only: str | None = None,
    runtime: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Engine:
    """An engine that answers. `only` ("docker" or "podman") narrows the search; `install` allows apt-get.

    `runtime` (else $PERMAFROST_RUNTIME) is the one that shall start containers; by default the engine chooses.

    The order: $DOCKER_HOST or $CONTAINER_HOST; the usual sockets; as root a `dockerd` program, served; a
    `podman` program, served; as root on Debian or Ubuntu, with `install`, Docker from the distribution.
    Root prefers dockerd to Podman where both are only programs: it reports out-of-memory kills reliably.
    """
    environment = os.environ if environment is None else environment
    with activity("looking for a container engine"):
        engine = _find(layout, install, only, environment)
    if runtime := runtime or environment.get("PERMAFROST_RUNTIME"):
        try:
            engine.use_runtime(runtime)
        except BaseException:
            engine.close()
            raise
    return engine


def _find(layout: Layout, install: bool, only: str | None, environment: Mapping[str, str]) -> Engine:
    if chosen := chosen_by_user(environment):
        if reason := silence(chosen.path):
            raise EngineError(
                f"the engine named by {chosen.source} does not answer: {reason}",
                where=str(chosen.path),
                todo=f"start it, or unset {chosen.source} so that another engine is looked for",
            )
        return Engine(chosen.path)
    silent: list[str] = []
    for candidate in usual_places(environment):
        if not exists(candidate):
            continue
        if reason := silence(candidate.path):
            silent.append(f"{candidate.path}: {reason}")
            continue
        engine = Engine(candidate.path)
        if only in (None, engine.name):
            return engine
        engine.close()
    if served := _served(layout, only, environment):
        return served
    if install and only in (None, "docker") and _may_install():
        install_docker()
        if served := _served(layout, "docker", environment):
            return served
    raise EngineError(
        f"no container engine was found{f' ({only} was asked for)' if only else ''}",
        where="; ".join(silent) or "no socket, no dockerd or podman program",
        todo=_COMMANDS,
    )


def _served(layout: Layout, only: str | None, environment: Mapping[str, str]) -> Engine | None:
    """An engine served by us, from the programs that are here; None where there are none."""
    choices = [serve_docker] if programs.is_root() and only in (None, "docker") else []
    choices += [serve_podman] if only in (None, "podman") else []
    failure: EngineError | None = None
    for serve in choices:
        try:
            if engine := serve(layout.cache, environment):
                return engine
        except EngineError as error:
            log.warning("an engine could not be served: %s", error.what)
            failure = failure or error
    if failure is not None:
        raise failure
    return None


def serve_docker(cache: Path, environment: Mapping[str, str]) -> Engine | None:
    """Our private Docker engine, started or joined; None without the program."""
    program = programs.find_program("dockerd")
    return _lease(programs.dockerd(program, cache, environment)) if program else None


def serve_podman(cache: Path, environment: Mapping[str, str]) -> Engine | None:
    """Podman with its defaults if they start a container here, else with our corrections; None without it."""
    program = programs.find_program("podman")
    if program is None:
        return None
    defaults = programs.podman(program, cache, environment, corrected=False)
    marker = defaults.folder / "defaults-work"
    corrected_marker = defaults.folder.parent / "podman-corrected" / "corrections-work"
    if not marker.exists() and not corrected_marker.exists():
        engine = _lease(defaults)
        outcome = control_run(engine)
        if outcome.ok:
            marker.touch()
            return engine
        engine.close()
        log.info("podman's defaults do not work here (%s); served with corrections", outcome.detail)
    if marker.exists():
        return _lease(defaults)
    engine = _lease(programs.podman(program, cache, environment, corrected=True))
    if not corrected_marker.exists():
        outcome = control_run(engine)
        if not outcome.ok:
            engine.close()
            raise EngineError(
                f"podman cannot start a container: {outcome.detail}",
                where=program,
                todo="check `podman run` by hand, or use Docker",
            )
        corrected_marker.touch()
    return engine


def _lease(service: Service) -> Engine:
    lease = Lease(service)
    try:
        return Engine(service.socket, served=True, revive=lease.revive, release=lease.release)
    except BaseException:
        lease.release()
        raise


def _may_install() -> bool:
    """Whether this is root on a system with apt-get."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None and _is_debian_like()


def install_docker() -> None:
    """Install Docker without recommended packages and without starting anything else."""
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *_PACKAGES]
    log.warning("no container engine was found: installing it now with `%s`", " ".join(command))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # the package's own service is left alone: the harness serves a private engine
    for step in (["apt-get", "update", "--quiet"], command):
        result = subprocess.run(step, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if result.returncode != 0:
            output = (result.stderr or result.stdout).decode(errors="replace")
            raise EngineError(
                f"`{' '.join(step)}` ended with code {result.returncode}",
                where=last_line(output, "it said nothing"),
                todo="correct what it names, or install Docker Engine or Podman yourself",
            )


def _is_debian_like() -> bool:
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return False
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    families = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', "").split()
    return bool({"debian", "ubuntu"} & set(families))
