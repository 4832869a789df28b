"""Calling an engine's own builder with the network off: Docker through a client with BuildKit, or Podman."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.base.errors import ImageError
from harness.images.limits import LIMITS, run_watched

if TYPE_CHECKING:
    import docker

# What the Dockerfile is called in a context. Podman's service prefers a file of the same name in the folder it
# was started in, so this is a name that no folder has.
RECIPE = "permafrost-context.dockerfile"
_LAST_CLIENT_WITH_BUILDKIT_INSIDE = 22
_USUAL = ("/usr/bin", "/usr/local/bin", "/bin")
_SHOWN_LINES = 40


class BuildEngine(Protocol):
    """What building needs of an engine."""

    @property
    def name(self) -> str:
        """`docker` or `podman`."""

    @property
    def socket(self) -> Path:
        """Where it listens."""

    @property
    def client(self) -> docker.DockerClient:
        """A client of its API."""


def build(
    engine: BuildEngine,
    context: Path,
    *,
    target: str,
    arguments: Mapping[str, str],
    labels: Mapping[str, str],
    epoch: int,
    cached: bool = True,
) -> str:
    """Build one stage of the Dockerfile in `context` with no network; returns the image's id."""
    address, info, limits = f"unix://{engine.socket}", engine.client.info(), LIMITS
    with tempfile.TemporaryDirectory() as folder:
        id_file = Path(folder) / "id"
        if engine.name == "podman":
            # Buildah's cache does not look into bind mounts: it would take another build's packages for ours.
            command = [*_podman(address), "build", "--layers=false", "--format", "docker"]
            command += ["--timestamp", str(epoch), "--pull=never"]
            command += limits.podman_options(memory=bool(info.get("MemoryLimit")))
            # the client would add what this machine configures for every container
            variables = {"CONTAINERS_CONF": os.devnull}
        else:
            command = [docker_with_buildkit(), "build", "--progress", "plain", "--pull=false"]
            variables = {
                "DOCKER_HOST": address,
                "DOCKER_BUILDKIT": "1",
                "BUILDX_BUILDER": "default",
                "BUILDX_NO_DEFAULT_ATTESTATIONS": "1",
            }
        command += ["--file", RECIPE, "--network", "none", "--iidfile", str(id_file), "--target", target]
        for name, value in sorted({**arguments, "SOURCE_DATE_EPOCH": str(epoch)}.items()):
            command += ["--build-arg", f"{name}={value}"]
        for name, value in sorted(labels.items()):
            command += ["--label", f"{name}={value}"]
        command += [] if cached else ["--no-cache"]
        disk = Path(str(info.get("DockerRootDir", "")))
        result = run_watched([*command, "."], context, {**os.environ, **variables}, limits, disk)
        if result.code != 0:
            output = "\n".join(result.output.splitlines()[-_SHOWN_LINES:])
            why = f"stopped: {result.stop_reason}" if result.stop_reason else f"exit {result.code}"
            raise ImageError(
                f"{engine.name} could not build stage '{target}' ({why}):\n{output}",
                where="Dockerfile",
                todo="the last lines above say which step failed; `harness doctor` checks engine and disk",
            )
        return id_file.read_text().strip()


@cache
def docker_with_buildkit() -> str:
    """The first docker client that can build with BuildKit; the first on PATH need not be one."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), *_USUAL]
    programs = dict.fromkeys(str(Path(folder) / "docker") for folder in folders if folder)
    clients = [path for path in programs if os.access(path, os.X_OK)]
    for client in clients:
        if _has_buildkit(client):
            return client
    raise ImageError(
        "no docker client here can build with BuildKit",
        where=", ".join(clients) or "no `docker` on PATH",
        todo="install its buildx plugin (docker-buildx, docker-buildx-plugin), or Debian's docker.io, or podman",
    )


def _has_buildkit(client: str) -> bool:
    if subprocess.run([client, "buildx", "version"], capture_output=True).returncode == 0:
        return True
    # Without a server this fails after it printed the client's version.
    version = subprocess.run(
        [client, "version", "--format", "{{.Client.Version}}"], capture_output=True, text=True
    ).stdout.strip()
    major = version.split(".")[0]
    return major.isdigit() and int(major) <= _LAST_CLIENT_WITH_BUILDKIT_INSIDE


def _podman(address: str) -> list[str]:
    program = shutil.which("podman")
    if program is None:
        raise ImageError(
            "building through Podman needs its client", where="no `podman` on PATH", todo="install podman"
        )
    return [program, "--remote", "--url", address]
