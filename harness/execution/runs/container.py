"""The one place that says how a run's container is closed off, in a pure function, so that tests can read it.

In the place of the kernel's files, which would tell what the whole machine does, a container is shown small ones:
they tell the run's limits and stand still. Each run has its own copies, because two containers can talk through
any file that both can open.
"""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from harness.base.ownership import LABEL_HARNESS, LABEL_RUN
from harness.engine.facts import EngineFacts
from harness.engine.walls import walls
from harness.execution.runs.request import Limits, Mount, RunRequest
from harness.execution.runs.user import ContainerUser

_OPEN_FILES = 4096
# for a user who has other processes, too, so far above what one run may have
_USER_PROCESSES = 16384
# of the runtime, which becomes this user before it becomes the program
_RUNTIME_THREADS = 32
_SIGNALS = 4096
_LOCKED_MEMORY = 64 << 10
_SHARED_MEMORY = 64 << 20
_SHOWN_FILES = {
    "meminfo": "/proc/meminfo",
    "stat": "/proc/stat",
    "uptime": "/proc/uptime",
    "loadavg": "/proc/loadavg",
    "resolv.conf": "/etc/resolv.conf",
}


def container_configuration(
    request: RunRequest, facts: EngineFacts, *, out: Path, shown: Path, run: str, owner: str, user: ContainerUser
) -> dict[str, Any]:
    """The engine's description of the container."""
    limits = request.limits
    # its number has no name; programs that ask for one look here first
    environment = {"LOGNAME": "permafrost", "USER": "permafrost", **request.environment}
    if request.seed is not None:
        environment["PERMAFROST_SEED"] = str(request.seed)
    host: dict[str, Any] = {
        **walls(facts, gpus=bool(limits.gpus)),
        "ShmSize": min(_SHARED_MEMORY, limits.memory_bytes),
        "Tmpfs": {"/tmp": f"rw,nosuid,nodev,noexec,mode=1777,size={limits.scratch_bytes}"},
        "Memory": limits.memory_bytes,
        # equal to the memory limit: no swap, so that a limit is a limit
        "MemorySwap": limits.memory_bytes,
        "PidsLimit": limits.processes,
        "Ulimits": _ulimits(limits, own=user.own),
        # the log is taken from the stream; nothing is kept by the engine, so it cannot fill a disk
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
        **_mounts(request, facts, out, shown),
    }
    if facts.cpu_limit_enforced:
        host["NanoCpus"] = int(limits.cpus * 1e9)
    if limits.gpus and facts.name == "podman":
        host["Devices"] = [{"PathOnHost": f"nvidia.com/gpu={gpu}"} for gpu in limits.gpus]
    elif limits.gpus:
        host["DeviceRequests"] = [{"Driver": "nvidia", "DeviceIDs": list(limits.gpus), "Capabilities": [["gpu"]]}]
    configuration: dict[str, Any] = {
        "Image": request.image_id,
        "User": f"{user.uid}:{user.gid}",
        "Hostname": "permafrost",
        "Env": [f"{name}={value}" for name, value in sorted(environment.items())],
        "Labels": {**request.labels, LABEL_RUN: run, LABEL_HARNESS: owner},
        # what an image would have the engine run beside the method, with the rights of the method
        "Healthcheck": {"Test": ["NONE"]},
        "AttachStdout": True,
        "AttachStderr": True,
        "HostConfig": host,
    }
    if request.entrypoint is not None:
        configuration["Entrypoint"] = list(request.entrypoint)
    if request.command is not None:
        configuration["Cmd"] = list(request.command)
    return configuration


def _ulimits(limits: Limits, *, own: bool) -> list[dict[str, Any]]:
    bounds = {
        "nofile": _within_own_limit(resource.RLIMIT_NOFILE, _OPEN_FILES),
        "nproc": _within_own_limit(
            resource.RLIMIT_NPROC, limits.processes + _RUNTIME_THREADS if own else _USER_PROCESSES
        ),
        "sigpending": _within_own_limit(resource.RLIMIT_SIGPENDING, _SIGNALS),
        "memlock": _within_own_limit(resource.RLIMIT_MEMLOCK, _LOCKED_MEMORY),
        "msgqueue": 0,
        "fsize": limits.output_bytes,
        "core": 0,
    }
    return [{"Name": name, "Soft": bound, "Hard": bound} for name, bound in bounds.items()]


def _within_own_limit(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _mounts(request: RunRequest, facts: EngineFacts, out: Path, shown: Path) -> dict[str, Any]:
    mounts = [(request.in_folder, "/in", True), (out, "/out", False)]
    mounts += [(mount.source, mount.target, True) for mount in (*shown_mounts(shown), *request.mounts)]
    if facts.selinux:
        # only this older notation can ask for the label without which SELinux refuses the folder
        return {
            "Binds": [
                f"{source.absolute()}:{target}:{'ro' if read_only else 'rw'},z"
                for source, target, read_only in mounts
            ]
        }
    return {
        "Mounts": [
            {
                "Type": "bind",
                "Source": str(source.absolute()),
                "Target": target,
                "ReadOnly": read_only,
                "BindOptions": {"Propagation": "rprivate"},
            }
            for source, target, read_only in mounts
        ]
    }


def write_shown_files(place: Path, limits: Limits) -> None:
    """Write the files that one run is shown of the machine into `place`."""
    kibibytes = limits.memory_bytes >> 10
    texts = {
        "meminfo": "".join(
            f"{name + ':':<16}{value:>8} kB\n"
            for name, value in (
                ("MemTotal", kibibytes),
                ("MemFree", kibibytes),
                ("MemAvailable", kibibytes),
                ("Buffers", 0),
                ("Cached", 0),
                ("SwapTotal", 0),
                ("SwapFree", 0),
            )
        ),
        "stat": f"cpu {' 0' * 10}\nintr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n",
        "uptime": "0.00 0.00\n",
        "loadavg": "0.00 0.00 0.00 1/1 1\n",
        "resolv.conf": "",
    }
    place.mkdir(mode=0o755, exist_ok=True)
    for name, text in texts.items():
        path = place / name
        path.write_text(text, encoding="ascii")
        path.chmod(0o444)


def shown_mounts(place: Path) -> list[Mount]:
    """The mounts that put these files in the place of the kernel's."""
    return [Mount(place / name, target) for name, target in _SHOWN_FILES.items()]
