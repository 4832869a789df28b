"""A limit that an engine accepts and ignores is never taken for one that it keeps."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from harness.engine.facts import EngineFacts, read_facts

DOCKER = {"Version": "20.10", "Components": [{"Name": "Engine"}]}
PODMAN = {"Version": "4.3.1", "Components": [{"Name": "Podman Engine"}]}
INFO: dict[str, Any] = {
    "MemoryLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "CgroupVersion": "1",
    "Driver": "overlay2",
    "SecurityOptions": ["name=seccomp,profile=default"],
}


def facts(version: dict[str, Any], *, delegated: frozenset[str] | None = None, **changes: Any) -> EngineFacts:
    return read_facts(version, {**INFO, **changes}, api_version="1.41", socket="/s", delegated=delegated)


def test_rootless_on_the_first_cgroup_version_keeps_no_limit() -> None:
    for found in (facts(PODMAN, Rootless=True), facts(DOCKER, SecurityOptions=["name=rootless"])):
        assert found.rootless and not found.memory_limit_enforced and not found.process_limit_enforced
        assert not found.cpu_limit_enforced
        assert any("memory limit is not enforced" in warning for warning in found.warnings)


_LIMITS = {"memory": "MemoryLimit", "pids": "PidsLimit", "cpu": "CpuCfsQuota"}


@pytest.mark.parametrize("names", [set(some) for count in range(4) for some in combinations(_LIMITS, count)])
def test_an_engine_keeps_the_limits_that_it_says_and_rootless_podman_those_delegated_to_it(
    names: set[str],
) -> None:
    rootless = facts(PODMAN, delegated=frozenset(names), Rootless=True, CgroupVersion="2")
    given: dict[str, Any] = {field: name in names for name, field in _LIMITS.items()}
    said = facts(DOCKER, **given)
    for found in (rootless, said):
        kept = {
            "memory": found.memory_limit_enforced,
            "pids": found.process_limit_enforced,
            "cpu": found.cpu_limit_enforced,
        }
        assert {name for name, is_kept in kept.items() if is_kept} == names


def test_an_engine_that_says_it_has_no_memory_limit_is_believed() -> None:
    found = facts(DOCKER, MemoryLimit=False, Warnings=["WARNING: No memory limit support", "WARNING: bridge"])
    assert not found.memory_limit_enforced
    assert found.warnings[0] == "WARNING: No memory limit support" and len(found.warnings) == 2


def test_root_keeps_its_limits_and_has_nothing_to_warn_of() -> None:
    found = facts(DOCKER)
    assert found.memory_limit_enforced and not found.rootless and found.warnings == ()


def test_podman_is_not_taken_for_docker() -> None:
    assert facts(PODMAN).name == "podman" and facts(DOCKER).name == "docker" and facts({}).name == "docker"


def test_copying_storage_is_warned_of() -> None:
    rootless: dict[str, Any] = {"SecurityOptions": ["name=seccomp", "name=rootless"], "CgroupVersion": "2"}
    for more in ({}, rootless):
        (warning,) = facts(DOCKER, Driver="vfs", **more).warnings
        assert warning.startswith("storage driver vfs copies every layer")
    assert facts(DOCKER, Driver="zfs").warnings == facts(DOCKER, Driver="aufs").warnings == ()


def test_facts_can_be_kept_with_a_record() -> None:
    assert facts(DOCKER).as_json()["warnings"] == []


def test_a_user_name_space_is_known_however_it_came_about() -> None:
    assert not facts(DOCKER).user_namespace
    assert facts(DOCKER, SecurityOptions=["name=userns", "name=seccomp"]).user_namespace
    assert (
        facts(DOCKER, SecurityOptions=["name=rootless"]).user_namespace
        and facts(PODMAN, Rootless=True).user_namespace
    )


def test_the_runtime_is_the_engines_own_unless_one_was_chosen() -> None:
    assert facts(DOCKER, DefaultRuntime="runc").runtime == "runc" and facts(DOCKER).runtime == ""
    chosen = read_facts(
        DOCKER, {**INFO, "DefaultRuntime": "runc"}, api_version="1.41", socket="/s", runtime="runsc"
    )
    assert chosen.runtime == "runsc" and chosen.as_json()["runtime"] == "runsc"


@pytest.mark.parametrize(
    ("runtimes", "lends"),
    [
        ({}, False),
        ({"runc": {}, "runsc": {}}, False),
        ({"nvidia-old": {}}, False),
        ({"runc": {}, "nvidia": {}}, True),
    ],
)
def test_gpus_are_lent_by_nvidias_runtime_alone(runtimes: dict[str, Any], lends: bool) -> None:
    assert facts(DOCKER, Runtimes=runtimes, DefaultRuntime="runc").gpu_runtime is lends


def test_a_filter_of_system_calls_is_only_believed_where_it_is_named() -> None:
    assert facts(DOCKER).system_call_filter
    bare = facts(DOCKER, SecurityOptions=["name=apparmor"])
    assert not bare.system_call_filter and any("system calls" in warning for warning in bare.warnings)


def test_every_fact_is_the_engines_own_word() -> None:
    found = facts(
        DOCKER,
        CgroupVersion="2",
        CgroupDriver="systemd",
        Driver="btrfs",
        Architecture="x86_64",
        NCPU=6,
        MemTotal=7 << 30,
        Runtimes={"runc": {}, "nvidia": {}},
        DefaultRuntime="runc",
        DockerRootDir="/var/lib/docker",
        PidsLimit=False,
        CpuCfsQuota=False,
        SecurityOptions=["name=seccomp", "name=selinux"],
    )
    assert found.as_json() == {
        "name": "docker",
        "version": "20.10",
        "api_version": "1.41",
        "rootless": False,
        "cgroup_version": 2,
        "cgroup_driver": "systemd",
        "storage_driver": "btrfs",
        "memory_limit_enforced": True,
        "process_limit_enforced": False,
        "cpu_limit_enforced": False,
        "selinux": True,
        "architecture": "x86_64",
        "cpus": 6,
        "memory_bytes": 7 << 30,
        "user_namespace": False,
        "system_call_filter": True,
        "runtime": "runc",
        "gpu_runtime": True,
        "served": False,
        "warnings": [],
    }
    assert (found.socket, found.root_folder) == ("/s", "/var/lib/docker"), "known, and left out of records"


def test_what_an_engine_leaves_out_or_calls_null_is_a_plain_value() -> None:
    silent = read_facts({}, {}, api_version="1.41", socket="/s", served=True)
    nulls = [
        *("CgroupVersion", "CgroupDriver", "Driver", "Architecture", "NCPU", "MemTotal", "Runtimes"),
        *("DefaultRuntime", "DockerRootDir", "SecurityOptions", "Warnings"),
    ]
    null = read_facts({"Components": None}, dict.fromkeys(nulls), api_version="1.41", socket="/s", served=True)
    assert silent == null
    assert (silent.cgroup_version, silent.cgroup_driver, silent.storage_driver) == (1, "", "")
    assert (silent.architecture, silent.cpus, silent.memory_bytes) == ("", 1, 0)
    assert (silent.version, silent.runtime, silent.root_folder, silent.gpu_runtime) == ("", "", "", False)
    # an old engine does not say that it has limits; they are looked at in the control run
    assert silent.memory_limit_enforced and silent.served and not silent.selinux and not silent.rootless


@pytest.mark.parametrize("word", ["memory", "Swap", "CGROUP", "pids", "cpu cfs"])
def test_warnings_of_limits_are_kept_and_others_are_not(word: str) -> None:
    assert facts(DOCKER, Warnings=[f"no {word} support", "no bridge-nf"]).warnings == (f"no {word} support",)


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({"MemoryLimit": False}, "the memory limit is not enforced by this engine: "),
        ({"SecurityOptions": []}, "the engine filters no system calls: "),
        ({"Driver": "vfs"}, "storage driver vfs copies every layer: "),
    ],
)
def test_what_is_wanting_is_said_in_words(changes: dict[str, Any], start: str) -> None:
    (warning,) = facts(DOCKER, **changes).warnings
    assert warning.startswith(start)
