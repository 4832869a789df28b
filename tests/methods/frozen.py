"""Runs a command in a frozen image: tests of what is written in R or Octave never use the machine's own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

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
    # not run and followed in one: logs that are followed from the start sometimes end too early
    container = engine.client.containers.create(
        image_id,
        entrypoint=program,
        command=arguments,
        environment=dict(environment),
        volumes={str(here): {"bind": there, "mode": mode} for here, (there, mode) in mounts.items()},
        network_mode="none",
    )
    try:
        container.start()
        exit_code = container.wait()["StatusCode"]
        printed, said = (
            bytes(container.logs(stdout=out, stderr=not out)).decode(errors="replace") for out in (True, False)
        )
    finally:
        container.remove(force=True)
    return subprocess.CompletedProcess(list(command), exit_code, printed, said)
