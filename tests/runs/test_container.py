"""The description of the container can't lose one of its locks unnoticed."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ImageError
from harness.engine.facts import EngineFacts, read_facts
from harness.execution.runs import Limits, Mount, RunRequest, execute
from harness.execution.runs.container import container_configuration
from harness.execution.runs.user import ContainerUser

ENGINE = {"Driver": "overlay2", "SecurityOptions": ["name=seccomp,profile=default"], "DefaultRuntime": "runc"}
FACTS = read_facts({}, ENGINE, api_version="1.41", socket="/run/engine.sock")
PODMAN = replace(FACTS, name="podman")
OWN = ContainerUser(1_900_000_000, 1_900_000_001, own=True)
REQUEST = RunRequest(
    image="permafrost/bnnr:1",
    image_id="sha256:" + "a" * 64,
    in_folder=Path("/data/in"),
    work=Path("/data/work"),
    limits=Limits(seconds=60, memory_bytes=2 << 30, processes=100, output_bytes=1 << 20, scratch_bytes=1 << 20),
    seed=7,
    labels={"permafrost.key": "k"},
    mounts=(Mount(Path("/data/upstream"), "/opt/upstream"),),
)


def describe(
    facts: EngineFacts = FACTS, request: RunRequest = REQUEST, user: ContainerUser = OWN
) -> dict[str, Any]:
    return container_configuration(
        request, facts, out=Path("/data/run/out"), shown=Path("/data/run/shown"), run="r", owner="/lock", user=user
    )


def bounds_of(described: dict[str, Any]) -> dict[str, int]:
    bounds = described["HostConfig"]["Ulimits"]
    assert all(bound["Soft"] == bound["Hard"] for bound in bounds)
    return {bound["Name"]: bound["Hard"] for bound in bounds}


def test_every_wall_is_there() -> None:
    described = describe()
    host = described["HostConfig"]
    assert host["NetworkMode"] == "none" and host["ReadonlyRootfs"] is True and host["Privileged"] is False
    assert host["CapDrop"] == ["ALL"] and "no-new-privileges" in host["SecurityOpt"]
    assert host["IpcMode"] == "private" and host["CgroupnsMode"] == "private"
    assert host["Memory"] == host["MemorySwap"] == 2 << 30 and host["PidsLimit"] == 100
    assert host["NanoCpus"] == 1_000_000_000 and host["ShmSize"] == 64 << 20
    assert host["Tmpfs"] == {"/tmp": "rw,nosuid,nodev,noexec,mode=1777,size=1048576"}
    assert host["LogConfig"]["Type"] == "none" and host["RestartPolicy"] == {"Name": "no"}
    assert described["User"] == "1900000000:1900000001" and described["Image"] == REQUEST.image_id
    unwanted = {"CapAdd", "Devices", "DeviceRequests", "PidMode", "UTSMode", "UsernsMode", "Binds", "VolumesFrom"}
    assert not unwanted & host.keys()


def test_the_engines_own_init_program_is_never_used() -> None:
    """It is one file of the machine in all containers: two of them talk through locks on it."""
    assert describe()["HostConfig"]["Init"] is False and describe(PODMAN)["HostConfig"]["Init"] is False


@pytest.mark.parametrize("facts", [FACTS, PODMAN], ids=["docker", "podman"])
def test_every_limit_per_user_or_process_is_there(facts: EngineFacts) -> None:
    bounds = bounds_of(describe(facts))
    assert bounds["fsize"] == 1 << 20 and bounds["core"] == 0 and 0 < bounds["nofile"] <= 4096
    assert bounds["msgqueue"] == 0 and 0 < bounds["memlock"] <= 1 << 16 and 0 < bounds["sigpending"] <= 4096
    assert 100 < bounds["nproc"] <= 200


def test_a_user_who_has_other_processes_gets_room_for_them() -> None:
    assert bounds_of(describe(user=ContainerUser(1000, 1000, own=False)))["nproc"] > 4000


def test_the_profile_of_system_calls_is_named_in_each_engines_own_way() -> None:
    (docker,) = (one for one in describe()["HostConfig"]["SecurityOpt"] if one.startswith("seccomp="))
    assert json.loads(docker.removeprefix("seccomp="))["defaultAction"] == "SCMP_ACT_ERRNO"
    (podman,) = (one for one in describe(PODMAN)["HostConfig"]["SecurityOpt"] if one.startswith("seccomp="))
    assert json.loads(Path(podman.removeprefix("seccomp=")).read_text()) == json.loads(docker[8:])


def test_what_tells_of_the_machine_is_hidden() -> None:
    host = describe()["HostConfig"]
    wanted = {"/proc/locks", "/proc/key-users", "/proc/diskstats", "/proc/sys/fs", "/sys/kernel", "/sys/block"}
    assert wanted <= set(host["MaskedPaths"]) and "/proc/sys" in host["ReadonlyPaths"]
    (podman,) = (one for one in describe(PODMAN)["HostConfig"]["SecurityOpt"] if one.startswith("mask="))
    assert wanted <= set(podman.removeprefix("mask=").split(":"))


def test_a_runtime_that_was_chosen_is_asked_for() -> None:
    assert describe(replace(FACTS, runtime="runsc"))["HostConfig"]["Runtime"] == "runsc"


@pytest.mark.parametrize("facts", [FACTS, PODMAN], ids=["docker", "podman"])
def test_only_the_output_can_be_written(facts: EngineFacts) -> None:
    mounts = describe(facts)["HostConfig"]["Mounts"]
    writable = {mount["Target"] for mount in mounts if not mount["ReadOnly"]}
    assert writable == {"/out"}
    assert all(mount["BindOptions"] == {"Propagation": "rprivate"} for mount in mounts)
    shown = {"/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/loadavg", "/etc/resolv.conf"}
    assert {mount["Target"] for mount in mounts} == {"/in", "/out", "/opt/upstream", *shown}


def test_what_is_shown_of_the_machine_is_the_runs_own_file() -> None:
    sources = [
        m["Source"] for m in describe()["HostConfig"]["Mounts"] if m["Target"].startswith(("/proc", "/etc"))
    ]
    assert all(source.startswith("/data/run/shown/") for source in sources)


def test_no_engine_socket_can_slip_in() -> None:
    assert not any("sock" in mount["Source"] for mount in describe()["HostConfig"]["Mounts"])


def test_selinux_gets_its_label() -> None:
    host = describe(replace(FACTS, selinux=True))["HostConfig"]
    assert host["Binds"][:2] == ["/data/in:/in:ro,z", "/data/run/out:/out:rw,z"] and "Mounts" not in host
    assert all(bind.endswith(":ro,z") for bind in host["Binds"] if ":/out:" not in bind)


def test_an_engine_without_cpu_limits_is_not_asked_for_one() -> None:
    assert "NanoCpus" in describe()["HostConfig"]
    assert "NanoCpus" not in describe(replace(FACTS, cpu_limit_enforced=False))["HostConfig"]


def test_gpus_are_asked_for_in_each_engines_own_way() -> None:
    request = replace(REQUEST, limits=replace(REQUEST.limits, gpus=("0",)))
    assert describe(request=request)["HostConfig"]["DeviceRequests"][0]["DeviceIDs"] == ["0"]
    podman = describe(PODMAN, request)["HostConfig"]
    assert podman["Devices"] == [{"PathOnHost": "nvidia.com/gpu=0"}]


def test_what_leads_to_a_gpus_driver_stays_visible_where_one_is_lent() -> None:
    request = replace(REQUEST, limits=replace(REQUEST.limits, gpus=("0",)))
    hidden = set(describe(request=request)["HostConfig"]["MaskedPaths"])
    assert "/proc/locks" in hidden and not {"/sys/module", "/sys/bus", "/proc/modules"} & hidden


def test_a_request_can_be_sent_elsewhere() -> None:
    assert pickle.loads(pickle.dumps(REQUEST)) == REQUEST


def test_a_name_is_no_image_id() -> None:
    with pytest.raises(ImageError, match="by its id"):
        execute(None, replace(REQUEST, image_id="permafrost/bnnr:latest"))  # type: ignore[arg-type]
