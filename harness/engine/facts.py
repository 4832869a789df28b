"""What an engine says about itself, read once and kept with every run, so that no limit is assumed.

`read_facts` is a pure function over the engine's own answers: it can be tested without any engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_REMARKABLE = ("memory", "swap", "cgroup", "pids", "cpu")
_PATHS = ("socket", "root_folder")


@dataclass(frozen=True)
class EngineFacts:
    """What an engine says about itself, and which limits it enforces."""

    name: str
    version: str
    api_version: str
    socket: str
    rootless: bool
    cgroup_version: int
    cgroup_driver: str
    storage_driver: str
    memory_limit_enforced: bool
    process_limit_enforced: bool
    cpu_limit_enforced: bool
    selinux: bool
    architecture: str
    cpus: int
    memory_bytes: int
    user_namespace: bool
    system_call_filter: bool
    runtime: str
    gpu_runtime: bool
    served: bool
    root_folder: str
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values for a record; paths, which tell of a machine and mean nothing elsewhere, are left out."""
        values = {name: value for name, value in asdict(self).items() if name not in _PATHS}
        return {**values, "warnings": list(self.warnings)}


def engine_name(version: Mapping[str, Any]) -> str:
    """`podman` or `docker`, from the components the engine lists."""
    components = version.get("Components") or []
    return "podman" if any("podman" in str(part.get("Name", "")).lower() for part in components) else "docker"


def read_facts(
    version: Mapping[str, Any],
    info: Mapping[str, Any],
    *,
    api_version: str,
    socket: str,
    served: bool = False,
    runtime: str = "",
    delegated: frozenset[str] | None = None,
) -> EngineFacts:
    """Facts from the answers to /version and /info.

    `delegated` are the cgroup controllers a rootless Podman lists as its own; its general answer describes
    the machine and not what the user was given. `runtime` is the one a person chose instead of the default.
    """
    options = [str(option) for option in info.get("SecurityOptions") or []]
    rootless = bool(info.get("Rootless")) or any("name=rootless" in option for option in options)
    cgroup_version = int(str(info.get("CgroupVersion") or "1"))
    # on the first cgroup version an unprivileged user owns no controller: limits are accepted and ignored
    without_controllers = rootless and cgroup_version == 1

    def enforced(field: str, controller: str) -> bool:
        allowed = delegated is None or controller in delegated
        return allowed and not without_controllers and bool(info.get(field, True))

    warnings = [
        str(line) for line in info.get("Warnings") or [] if any(word in str(line).lower() for word in _REMARKABLE)
    ]
    memory = enforced("MemoryLimit", "memory")
    if not memory:
        warnings.append("the memory limit is not enforced by this engine: a run can use all memory of the machine")
    has_filter = any("name=seccomp" in option for option in options)
    if not has_filter:
        warnings.append("the engine filters no system calls: a method reaches all of the kernel's")
    if info.get("Driver") == "vfs":
        warnings.append("storage driver vfs copies every layer: images take several times their size")
    return EngineFacts(
        name=engine_name(version),
        version=str(version.get("Version", "")),
        api_version=api_version,
        socket=socket,
        rootless=rootless,
        cgroup_version=cgroup_version,
        cgroup_driver=str(info.get("CgroupDriver") or ""),
        storage_driver=str(info.get("Driver") or ""),
        memory_limit_enforced=memory,
        process_limit_enforced=enforced("PidsLimit", "pids"),
        cpu_limit_enforced=enforced("CpuCfsQuota", "cpu"),
        selinux=any("name=selinux" in option for option in options),
        architecture=str(info.get("Architecture") or ""),
        cpus=int(info.get("NCPU") or 1),
        memory_bytes=int(info.get("MemTotal") or 0),
        user_namespace=rootless or any("name=userns" in option for option in options),
        system_call_filter=has_filter,
        runtime=runtime or str(info.get("DefaultRuntime") or ""),
        gpu_runtime="nvidia" in (info.get("Runtimes") or {}),
        served=served,
        root_folder=str(info.get("DockerRootDir") or ""),
        warnings=tuple(warnings),
    )
