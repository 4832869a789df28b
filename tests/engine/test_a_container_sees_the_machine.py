"""Every path that would tell a container of the machine, or of another container, is hidden, engine by engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine import walls as walls_module
from harness.engine.facts import EngineFacts, read_facts
from harness.engine.walls import HIDDEN, HIDDEN_WITHOUT_GPU, walls

INFO = {"Driver": "overlay2", "SecurityOptions": ["name=seccomp,profile=default"], "DefaultRuntime": "runc"}
DOCKER = read_facts({}, INFO, api_version="1.41", socket="/run/engine.sock")
PODMAN = replace(DOCKER, name="podman")

# By what they would tell: from these one container learns what another does, or both hear each other.
TELLING = {
    "locks, keys and pipes of others": "/proc/locks /proc/key-users /proc/keys /proc/sys/fs /proc/sys/kernel/pty",
    "what is drawn from the machine's entropy": "/proc/sys/kernel/random",
    "how busy the machine is": "/proc/pressure /proc/schedstat /proc/softirqs /proc/irq /proc/vmstat",
    "what memory is used": "/proc/buddyinfo /proc/pagetypeinfo /proc/zoneinfo /proc/slabinfo /proc/allocinfo",
    "what disks do": "/proc/swaps /proc/diskstats /proc/partitions /proc/mdstat /proc/fs",
    "what file systems count for everybody": "/sys/fs/bcache /sys/fs/btrfs /sys/fs/ext4 /sys/fs/f2fs /sys/fs/fuse",
    "the same of others": "/sys/fs/nfs /sys/fs/xfs",
    "what the kernel is": "/proc/config.gz /proc/crypto /proc/cgroups /proc/bus /sys/kernel /sys/power",
}
DRIVERS = "/proc/modules /sys/block /sys/bus /sys/class /sys/dev /sys/devices/system/node /sys/module"


@pytest.fixture(autouse=True)
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with two kinds of devices, its processors, and a file."""
    for name in ("pci0000:00", "virtio", "system"):
        (tmp_path / name).mkdir()
    (tmp_path / "a_file").write_text("")
    monkeypatch.setattr(walls_module, "_DEVICES", tmp_path)
    monkeypatch.setattr(walls_module, "_device_folders", walls_module._device_folders.__wrapped__)
    return tmp_path


def hidden(facts: EngineFacts, **choices: bool) -> set[str]:
    settings = walls(facts, **choices)
    if facts.name == "docker":
        return set(settings["MaskedPaths"])
    (mask,) = (one.removeprefix("mask=") for one in settings["SecurityOpt"] if one.startswith("mask="))
    return set(mask.split(":"))


@pytest.mark.parametrize("gpus", [False, True])
@pytest.mark.parametrize("facts", [DOCKER, PODMAN], ids=["docker", "podman"])
@pytest.mark.parametrize("what", TELLING)
def test_what_tells_of_others_is_hidden_with_and_without_a_gpu(
    what: str, facts: EngineFacts, *, gpus: bool
) -> None:
    assert set(TELLING[what].split()) <= hidden(facts, gpus=gpus)


@pytest.mark.parametrize("facts", [DOCKER, PODMAN], ids=["docker", "podman"])
def test_a_gpus_driver_is_found_only_by_who_was_lent_one(facts: EngineFacts, devices: Path) -> None:
    assert set(DRIVERS.split()) <= hidden(facts)
    shown = hidden(facts) - hidden(facts, gpus=True)
    assert shown == {*DRIVERS.split(), *(path for path in hidden(facts) if path.startswith(str(devices)))}


def test_a_machine_without_that_folder_has_no_devices(monkeypatch: pytest.MonkeyPatch, devices: Path) -> None:
    monkeypatch.setattr(walls_module, "_DEVICES", devices / "nowhere")
    assert hidden(DOCKER) == {*HIDDEN, *HIDDEN_WITHOUT_GPU}


SAME: dict[str, Any] = {
    "NetworkMode": "none",
    "ReadonlyRootfs": True,
    "CapDrop": ["ALL"],
    "Privileged": False,
    "Init": False,
    "IpcMode": "private",
    "CgroupnsMode": "private",
}


@pytest.mark.parametrize("gpus", [False, True])
def test_every_other_wall_is_there_and_no_door(*, gpus: bool) -> None:
    docker, podman = walls(DOCKER, gpus=gpus), walls(PODMAN, gpus=gpus)
    options = docker.pop("SecurityOpt")
    assert options[0] == "no-new-privileges" and options[1].startswith("seccomp={") and len(options) == 2
    options = podman.pop("SecurityOpt")
    assert options[:2] == ["no-new-privileges", f"seccomp={walls_module.SYSTEM_CALLS}"] and len(options) == 3
    del docker["MaskedPaths"]
    assert docker == {**SAME, "ReadonlyPaths": ["/proc/sys", "/proc/sysrq-trigger"], "Runtime": "runc"}
    assert podman == SAME


def test_an_engine_that_names_no_runtime_is_asked_for_none() -> None:
    assert "Runtime" not in walls(replace(DOCKER, runtime=""))
