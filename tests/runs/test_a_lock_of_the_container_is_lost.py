"""What closes a container off from its neighbours and its host, item by item."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.runs.test_container import FACTS, REQUEST, describe


def test_memory_between_processes_is_the_containers_own() -> None:
    host = describe()["HostConfig"]
    assert host["IpcMode"] == "private" and host["ShmSize"] == 64 << 20
    little = replace(REQUEST, limits=replace(REQUEST.limits, memory_bytes=1 << 20))
    assert describe(request=little)["HostConfig"]["ShmSize"] == 1 << 20


def test_mounts_do_not_propagate() -> None:
    mounts = describe()["HostConfig"]["Mounts"]
    assert [mount["BindOptions"] for mount in mounts] == [{"Propagation": "rprivate"}] * len(mounts)
    assert {mount["Type"] for mount in mounts} == {"bind"}


def test_under_selinux_only_the_output_can_be_written() -> None:
    binds = describe(replace(FACTS, selinux=True))["HostConfig"]["Binds"]
    modes = {bind.split(":")[1]: bind.split(":")[2] for bind in binds}
    assert {"/in", "/out", "/opt/upstream"} <= modes.keys()
    assert [target for target, mode in modes.items() if mode != "ro,z"] == ["/out"] and modes["/out"] == "rw,z"


def test_the_container_is_told_its_seed_and_its_owner() -> None:
    described = describe(request=replace(REQUEST, environment={"B": "2", "A": "1"}))
    assert described["Env"] == ["A=1", "B=2", "LOGNAME=permafrost", "PERMAFROST_SEED=7", "USER=permafrost"]
    assert described["Labels"] == {
        "permafrost.key": "k",
        "permafrost.run": "r",
        "permafrost.harness": "/lock",
    }
    assert not any("SEED" in one for one in describe(request=replace(REQUEST, seed=None))["Env"])


def test_scratch_is_bounded_and_holds_no_programs() -> None:
    assert describe()["HostConfig"]["Tmpfs"] == {"/tmp": "rw,nosuid,nodev,noexec,mode=1777,size=1048576"}
    assert describe()["HostConfig"]["RestartPolicy"] == {"Name": "no"}


@pytest.mark.parametrize("cpus", [1.0, 2.5])
def test_cpus_are_bounded(cpus: float) -> None:
    request = replace(REQUEST, limits=replace(REQUEST.limits, cpus=cpus))
    assert describe(request=request)["HostConfig"]["NanoCpus"] == int(cpus * 1e9)


def test_the_program_is_the_images_unless_another_is_asked_for() -> None:
    assert "Entrypoint" not in describe() and "Cmd" not in describe()
    described = describe(request=replace(REQUEST, entrypoint=("a",), command=("b", "c")))
    assert (described["Entrypoint"], described["Cmd"]) == (["a"], ["b", "c"])
