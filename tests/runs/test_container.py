"""The description of the container can't lose one of its locks unnoticed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine.facts import EngineFacts, read_facts
from harness.errors import ImageError
from harness.runs import Limits, Mount, RunRequest, execute
from harness.runs.container import container_configuration, container_user

FACTS = read_facts({}, {"Driver": "overlay2"}, api_version="1.41", socket="/run/engine.sock")
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


def describe(facts: EngineFacts = FACTS, request: RunRequest = REQUEST) -> dict[str, Any]:
    return container_configuration(
        request, facts, out=Path("/data/out"), run="r", owner="/lock", user=(65534, 65534)
    )


def test_every_lock_is_there() -> None:
    described = describe()
    host = described["HostConfig"]
    assert host["NetworkMode"] == "none" and host["ReadonlyRootfs"] is True and host["Privileged"] is False
    assert host["CapDrop"] == ["ALL"] and host["SecurityOpt"] == ["no-new-privileges"] and host["Init"] is True
    assert host["Memory"] == host["MemorySwap"] == 2 << 30 and host["PidsLimit"] == 100
    assert "size=1048576" in host["Tmpfs"]["/tmp"] and host["LogConfig"]["Type"] == "none"
    bounds = {bound["Name"]: bound["Hard"] for bound in host["Ulimits"]}
    assert bounds["fsize"] == 1 << 20 and bounds["core"] == 0 and bounds["nofile"] <= 4096
    assert described["User"] == "65534:65534" and described["Image"] == REQUEST.image_id
    assert "CapAdd" not in host and "Devices" not in host and "DeviceRequests" not in host


def test_only_the_output_can_be_written() -> None:
    mounts = {mount["Target"]: mount["ReadOnly"] for mount in describe()["HostConfig"]["Mounts"]}
    assert mounts == {"/in": True, "/out": False, "/opt/upstream": True}


def test_no_engine_socket_can_slip_in() -> None:
    assert not any("sock" in mount["Source"] for mount in describe()["HostConfig"]["Mounts"])


def test_selinux_gets_its_label() -> None:
    host = describe(replace(FACTS, selinux=True))["HostConfig"]
    assert host["Binds"][0] == "/data/in:/in:ro,z" and "Mounts" not in host


def test_podman_gets_a_process_limit_it_can_set() -> None:
    named = {bound["Name"] for bound in describe(replace(FACTS, name="podman"))["HostConfig"]["Ulimits"]}
    assert "nproc" in named


def test_an_engine_without_cpu_limits_is_not_asked_for_one() -> None:
    assert "NanoCpus" in describe()["HostConfig"]
    assert "NanoCpus" not in describe(replace(FACTS, cpu_limit_enforced=False))["HostConfig"]


def test_gpus_are_asked_for_in_each_engines_own_way() -> None:
    request = replace(REQUEST, limits=replace(REQUEST.limits, gpus=("0",)))
    assert describe(request=request)["HostConfig"]["DeviceRequests"][0]["DeviceIDs"] == ["0"]
    podman = describe(replace(FACTS, name="podman"), request)["HostConfig"]
    assert podman["Devices"] == [{"PathOnHost": "nvidia.com/gpu=0"}]


def test_the_method_is_nobody_unless_files_could_not_be_handed_over() -> None:
    assert container_user(FACTS, uid=0, gid=0) == (65534, 65534)
    assert container_user(replace(FACTS, rootless=True), uid=1000, gid=1000) == (65534, 65534)
    assert container_user(FACTS, uid=1000, gid=1001) == (1000, 1001)


def test_a_request_can_be_sent_elsewhere() -> None:
    assert pickle.loads(pickle.dumps(REQUEST)) == REQUEST


def test_a_name_is_no_image_id() -> None:
    with pytest.raises(ImageError, match="by its id"):
        execute(None, replace(REQUEST, image_id="permafrost/bnnr:latest"))  # type: ignore[arg-type]
