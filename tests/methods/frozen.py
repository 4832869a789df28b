"""Runs a command in a frozen image: tests of what is written in R or Octave never use the machine's own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from docker.errors import APIError
from docker.models.containers import Container

from harness.engine import Engine


def run_in_image(
    engine: Engine,
    image_id: str,
    command: Sequence[str],
    mounts: Mapping[Path, tuple[str, str]],
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    """`mounts` maps folders here to their places there and to `ro` or `rw`; there is no network."""
    program, *arguments = command
    settings: dict[str, Any] = {
        "entrypoint": program,
        "command": arguments,
        "environment": dict(environment),
        "volumes": {str(here): {"bind": there, "mode": mode} for here, (there, mode) in mounts.items()},
        "network_mode": "none",
    }
    try:
        container = _started(engine, image_id, settings)
    except APIError:
        # on a laden machine a start was seen that found an image without its files; the next one found them
        container = _started(engine, image_id, settings)
    try:
        exit_code = container.wait()["StatusCode"]
        printed, said = (
            bytes(container.logs(stdout=out, stderr=not out)).decode(errors="replace") for out in (True, False)
        )
    finally:
        container.remove(force=True)
    return subprocess.CompletedProcess(list(command), exit_code, printed, said)


def _started(engine: Engine, image_id: str, settings: Mapping[str, Any]) -> Container:
    """A container that runs: not run and followed in one, for such logs sometimes end too early."""
    container = engine.client.containers.create(image_id, **settings)
    try:
        container.start()
    except APIError:
        container.remove(force=True)
        raise
    return container
