"""The walls every container has, whatever it runs: no network, no rights, few system calls, the machine hidden.

The hidden files tell about the whole machine, so that one container could read there what another does. Nothing
that computes needs them; what a library does look at is replaced (`harness/execution/runs/container.py`).
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from harness.engine.facts import EngineFacts

# Docker takes the text, Podman the path.
SYSTEM_CALLS = Path(__file__).with_name("system_calls.json")
_DEVICES = Path("/sys/devices")
# Processors are left: the C library counts them.
_NEEDED_DEVICES = "system"

HIDDEN = (
    "/proc/acpi",
    "/proc/allocinfo",
    "/proc/asound",
    "/proc/buddyinfo",
    "/proc/bus",
    "/proc/cgroups",
    "/proc/config.gz",
    "/proc/crypto",
    "/proc/diskstats",
    "/proc/fs",
    "/proc/interrupts",
    "/proc/irq",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/locks",
    "/proc/mdstat",
    "/proc/pagetypeinfo",
    "/proc/partitions",
    "/proc/pressure",
    "/proc/sched_debug",
    "/proc/schedstat",
    "/proc/scsi",
    "/proc/slabinfo",
    "/proc/softirqs",
    "/proc/swaps",
    "/proc/sys/fs",
    "/proc/sys/kernel/pty",
    "/proc/sys/kernel/random",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/vmstat",
    "/proc/zoneinfo",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/sys/fs/bcache",
    "/sys/fs/btrfs",
    "/sys/fs/ext4",
    "/sys/fs/f2fs",
    "/sys/fs/fuse",
    "/sys/fs/nfs",
    "/sys/fs/xfs",
    "/sys/kernel",
    "/sys/power",
)
# NVIDIA's driver is looked for through these.
HIDDEN_WITHOUT_GPU = (
    "/proc/modules",
    "/sys/block",
    "/sys/bus",
    "/sys/class",
    "/sys/dev",
    "/sys/devices/system/node",
    "/sys/module",
)
READ_ONLY = ("/proc/sys", "/proc/sysrq-trigger")


def walls(facts: EngineFacts, *, gpus: bool = False) -> dict[str, Any]:
    """The part of an engine's HostConfig that is the same for runs, checks of images and the control run."""
    hidden = [*HIDDEN, *(() if gpus else (*HIDDEN_WITHOUT_GPU, *_device_folders()))]
    settings: dict[str, Any] = {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", *_filter(facts)],
        "Privileged": False,
        # the engine's own would be one file of the machine in all containers; the images bring theirs
        "Init": False,
        "IpcMode": "private",
        "CgroupnsMode": "private",
    }
    if facts.name == "podman":
        # it ignores the field, and separates paths by colons
        settings["SecurityOpt"].append("mask=" + ":".join(path for path in hidden if ":" not in path))
        return settings
    settings |= {"MaskedPaths": hidden, "ReadonlyPaths": list(READ_ONLY)}
    if facts.runtime:
        settings["Runtime"] = facts.runtime
    return settings


@cache
def profile_digest() -> str:
    """The sha256 of the profile of system calls, as records name it."""
    return hashlib.sha256(SYSTEM_CALLS.read_bytes()).hexdigest()


def _filter(facts: EngineFacts) -> list[str]:
    if not facts.system_call_filter:
        return []
    return [f"seccomp={SYSTEM_CALLS}" if facts.name == "podman" else f"seccomp={_profile()}"]


@cache
def _profile() -> str:
    return SYSTEM_CALLS.read_text(encoding="utf-8")


@cache
def _device_folders() -> tuple[str, ...]:
    """Where this machine's disks and other devices count what they do."""
    if not _DEVICES.is_dir():
        return ()
    return tuple(
        sorted(str(path) for path in _DEVICES.iterdir() if path.is_dir() and path.name != _NEEDED_DEVICES)
    )
