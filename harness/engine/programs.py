"""How `dockerd` and `podman` are served: private storage for Docker, a corrected configuration for Podman.

A served dockerd never touches the machine's own Docker: it has its own storage, socket and pid file, and no
bridge and no packet filter, because runs have no network. Podman has no daemon, so its usual storage is
used. On machines where its defaults cannot start a container (mixed cgroup versions without a delegated
limit) a small configuration is written beside our socket; the machine's configuration is left alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.engine.serve import Service, service_folder, socket_in
from harness.files import write_atomic

_SYSTEM_PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# a user's processes are counted over all containers, so this bounds the machine, not one run
_OPEN_FILES = _PROCESSES = 4096


def find_program(name: str) -> str | None:
    """A program, also where an ordinary user's search path does not look."""
    return shutil.which(name) or shutil.which(name, path=_SYSTEM_PROGRAMS)


def dockerd(program: str, cache: Path, environment: Mapping[str, str]) -> Service:
    """A private Docker engine. It chooses overlay2 itself and falls back to vfs where it must."""
    folder = service_folder("docker", cache, environment)
    storage = cache / "engine" / "docker"
    storage.mkdir(parents=True, exist_ok=True)
    return Service(
        name="dockerd",
        command=[
            program,
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
    )


def podman(program: str, cache: Path, environment: Mapping[str, str], *, corrected: bool) -> Service:
    """Podman's service, with its defaults or with our corrections."""
    folder = service_folder("podman-corrected" if corrected else "podman", cache, environment)
    settings: dict[str, str] = {}
    if corrected:
        path = folder / "containers.conf"
        write_atomic(path, podman_corrections())
        settings = {"CONTAINERS_CONF": str(path)}
    return Service(
        name="podman",
        command=[program, "system", "service", "--time=0", f"unix://{socket_in(folder)}"],
        folder=folder,
        environment=settings,
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
