"""How `dockerd` and `podman` are served: private storage for Docker, and for both a configuration of our own.

A served dockerd never touches the machine's own Docker: it has its own storage, socket and pid file, and no
bridge and no packet filter, because runs have no network. Podman has no daemon, so its usual storage is
used. What the machine configures for its own engine (other sockets, mounts or variables for every container)
is neither read nor changed: each service has a file beside its socket. Where Podman's defaults cannot start a
container (mixed cgroup versions without a delegated limit) that file holds corrections.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base.files import write_atomic, write_json
from harness.engine.service import Service, service_folder, socket_in

_SYSTEM_PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# a user's processes are counted over all containers, so this bounds the machine, not one run
_OPEN_FILES = _PROCESSES = 4096


def find_program(name: str) -> str | None:
    """A program, also where an ordinary user's search path does not look."""
    return shutil.which(name) or shutil.which(name, path=_SYSTEM_PROGRAMS)


def docker_storage(cache: Path) -> Path:
    """Where a served Docker engine keeps images and layers."""
    return cache / "engine" / "docker"


def dockerd(program: str, cache: Path, environment: Mapping[str, str]) -> Service:
    """A private Docker engine. It chooses overlay2 itself and falls back to vfs where it must."""
    folder = service_folder("docker", cache, environment)
    storage = docker_storage(cache)
    storage.mkdir(parents=True, exist_ok=True)
    configuration = folder / "daemon.json"
    write_json(configuration, docker_configuration())
    return Service(
        name="dockerd",
        command=[
            program,
            f"--config-file={configuration}",
            f"--host=unix://{socket_in(folder)}",
            f"--data-root={storage}",
            f"--exec-root={folder / 'exec'}",
            f"--pidfile={folder / 'engine.pid'}",
            "--bridge=none",
            "--iptables=false",
            "--ip6tables=false",
        ],
        folder=folder,
        storage=storage,
        helper=folder / "exec" / "containerd" / "containerd.pid",
    )


def docker_configuration() -> dict[str, Any]:
    """The whole daemon.json: the path of the NVIDIA runtime where it is installed, and nothing else."""
    runtime = find_program("nvidia-container-runtime")
    return {"runtimes": {"nvidia": {"path": runtime}}} if runtime else {}


def podman(program: str, cache: Path, environment: Mapping[str, str], *, corrected: bool) -> Service:
    """Podman's service, with its built-in defaults or with our corrections."""
    folder = service_folder("podman-corrected" if corrected else "podman", cache, environment)
    path = folder / "containers.conf"
    write_atomic(path, podman_corrections() if corrected else "")
    return Service(
        name="podman",
        command=[program, "system", "service", "--time=0", f"unix://{socket_in(folder)}"],
        folder=folder,
        environment={"CONTAINERS_CONF": str(path)},
    )


def podman_corrections() -> str:
    """A containers.conf that starts containers where the defaults ask for more than this user may have."""
    lines = [
        "[containers]",
        f'default_ulimits = ["nofile={_OPEN_FILES}:{_OPEN_FILES}", "nproc={_PROCESSES}:{_PROCESSES}"]',
        "[engine]",
    ]
    # crun refuses machines where both cgroup versions are mounted
    if find_program("runc"):
        lines.append('runtime = "runc"')
    if not Path("/run/systemd/system").is_dir():
        lines.append('cgroup_manager = "cgroupfs"')
    return "\n".join(lines) + "\n"


def is_root() -> bool:
    """Whether this process may serve a Docker engine."""
    return os.geteuid() == 0
