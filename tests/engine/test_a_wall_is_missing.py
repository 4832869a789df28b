"""The walls of every container are whole: what the profile refuses, what is hidden, in each engine's words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine import walls as walls_module
from harness.engine.facts import read_facts
from harness.engine.prohibitions import FORBIDDEN
from harness.engine.walls import HIDDEN, HIDDEN_WITHOUT_GPU, SYSTEM_CALLS, profile_digest, walls

INFO = {"SecurityOptions": ["name=seccomp,profile=default"], "DefaultRuntime": "runc"}
DOCKER = read_facts({}, INFO, api_version="1.41", socket="/s")
PODMAN = replace(DOCKER, name="podman")
ALLOW, REFUSE = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
NOT_PERMITTED, NO_SUCH_CALL = 1, 38

MOUNTING = "mount umount2 pivot_root fsopen fsconfig fsmount fspick open_tree move_mount mount_setattr chroot"
RULING = "setns unshare bpf perf_event_open ptrace process_vm_readv process_vm_writev pidfd_getfd process_madvise"
RULING += " init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl"
RULING += " sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex iopl ioperm modify_ldt"
RULING += " name_to_handle_at open_by_handle_at fanotify_init fanotify_mark syslog vhangup lookup_dcookie"
RULING += (
    " setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset vmsplice sync syncfs"
)
MISSING = (
    "io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key userfaultfd memfd_secret clone3"
)
MISSING += (
    " inotify_init inotify_init1 inotify_add_watch mq_open msgget semget shmget kcmp mincore cachestat mbind"
)


def answer(call: str, *arguments: int) -> int:
    """The profile's answer: 0 for allowed, else the error."""
    profile = json.loads(SYSTEM_CALLS.read_text())
    for rule in profile["syscalls"]:
        if call in rule["names"] and all(matches(arg, arguments) for arg in rule.get("args", ())):
            return 0 if rule["action"] == ALLOW else int(rule["errnoRet"])
    assert profile["defaultAction"] == REFUSE
    return NOT_PERMITTED


def matches(rule: dict[str, Any], arguments: tuple[int, ...]) -> bool:
    value = (arguments + (0,) * 6)[rule["index"]]
    if rule["op"] == "SCMP_CMP_MASKED_EQ":
        return bool(value & rule["value"] == rule["valueTwo"])
    assert rule["op"] == "SCMP_CMP_EQ"
    return bool(value == rule["value"])


@pytest.mark.parametrize("call", [*MOUNTING.split(), *RULING.split()])
def test_what_rules_the_machine_is_not_permitted(call: str) -> None:
    assert answer(call) == NOT_PERMITTED


@pytest.mark.parametrize("call", MISSING.split())
def test_what_programs_do_without_seems_to_be_missing(call: str) -> None:
    assert answer(call) == NO_SUCH_CALL


def test_only_sockets_of_ones_own_name_space_are_allowed() -> None:
    assert [family for family in range(64) if answer("socket", family, 1, 1) == 0] == [1, 2, 10]
    netlink = 16
    assert [protocol for protocol in range(64) if answer("socket", netlink, 3, protocol) == 0] == [0]
    assert answer("socket", 40, 1, 0) and answer("socket", 38, 5, 0) and answer("socket", 17, 3, 0)
    assert [family for family in range(64) if answer("socketpair", family) == 0] == [1]
    assert answer("socket", (1 << 32) + 40) != 0


def test_no_name_space_is_made_by_the_way() -> None:
    threads, child = 0x3D0F00, 0x01200011
    assert answer("clone", threads) == answer("clone", child) == 0
    for bit in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert answer("clone", child | bit) == NOT_PERMITTED


def test_no_process_waits_for_what_others_do_to_a_file() -> None:
    leases = (1024, 1025, 1026)
    assert all(answer("fcntl", 3, command) for command in leases)
    # the kernel looks at the lower half only
    assert all(answer("fcntl", 3, (1 << 32) + command) for command in leases)
    assert not any(
        answer("fcntl", 3, command) for command in (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1033)
    )


def test_the_page_cache_is_neither_asked_nor_emptied() -> None:
    assert answer("preadv2", 3, 0, 0, 0, 0, 8) and answer("pwritev2", 3, 0, 0, 0, 0, 9)
    assert answer("preadv2", 3, 0, 0, 0, 0, 0) == 0
    assert answer("fadvise64", 3, 0, 0, 4) and answer("fadvise64", 3, 0, 0, 2) == 0


def test_the_personality_can_be_asked_but_not_changed() -> None:
    assert answer("personality", 0xFFFFFFFF) == 0 and answer("personality", 0x0040000) == NOT_PERMITTED


def test_no_other_set_of_calls_is_let_in_through_another_architecture() -> None:
    architectures = json.loads(SYSTEM_CALLS.read_text())["archMap"]
    assert architectures and not any(one["subArchitectures"] for one in architectures)


def test_no_call_is_named_by_two_rules_without_conditions() -> None:
    rules = json.loads(SYSTEM_CALLS.read_text())["syscalls"]
    bare = [name for rule in rules if "args" not in rule for name in rule["names"]]
    assert len(bare) == len(set(bare))
    assert not {name for rule in rules if "args" in rule for name in rule["names"]} & set(bare)


def test_the_control_run_tries_only_what_is_refused() -> None:
    files = [one.path for one in FORBIDDEN if one.path]
    hidden = (*HIDDEN, *HIDDEN_WITHOUT_GPU)
    assert len(files) > 3 and all(any(Path(path).is_relative_to(one) for one in hidden) for path in files)
    assert len(FORBIDDEN) - len(files) > 10


# As the kernel numbers them for x86-64; arguments that an unfiltered kernel refuses with another word.
ATTEMPTS: dict[str, tuple[int, ...]] = {
    "unshare": (272,),
    "setns": (308, 0xFFFFFFFF),
    "clone with a name space": (56, 0x10000011),
    "keyctl": (250,),
    "add_key": (248,),
    "io_uring_setup": (425,),
    "socket(AF_VSOCK)": (41, 40, 1),
    "socket(AF_NETLINK, NETLINK_KOBJECT_UEVENT)": (41, 16, 3, 15),
    "ptrace": (101, 0xFFFF),
    "process_vm_readv": (310, 0x7FFFFFFF),
    "open_tree": (428, 0xFFFFFFFF),
    "name_to_handle_at": (303, 0xFFFFFFFF),
    "inotify_init": (253,),
    "mq_open": (240,),
    "shmget": (29, 0, 4096, 0o1600),
    "modify_ldt": (154,),
    "memfd_secret": (447,),
}
FILES = "/proc/locks /proc/key-users /proc/diskstats /proc/vmstat /proc/sys/fs/file-nr /sys/kernel/uevent_seqnum"


def test_the_control_run_tries_each_call_as_the_kernel_numbers_it() -> None:
    """With arguments for which the profile refuses it; a code that a person reads is a place in this order."""
    calls = {one.name: (one.number, *one.arguments) for one in FORBIDDEN if not one.path}
    assert calls == {f"the system call {name}": numbers for name, numbers in ATTEMPTS.items()}
    for name, (_, *arguments) in ATTEMPTS.items():
        assert answer(name.partition("(")[0].partition(" ")[0], *arguments) in (NOT_PERMITTED, NO_SUCH_CALL)
    files = [(one.name, one.path, one.number) for one in FORBIDDEN[len(ATTEMPTS) :]]
    assert files == [(f"reading {path}", path, 0) for path in FILES.split()]


def test_both_engines_get_every_wall() -> None:
    for facts in (DOCKER, PODMAN):
        host = walls(facts)
        assert host["NetworkMode"] == "none" and host["ReadonlyRootfs"] is True and host["Privileged"] is False
        assert host["CapDrop"] == ["ALL"] and host["Init"] is False
        assert host["IpcMode"] == host["CgroupnsMode"] == "private"
        assert host["SecurityOpt"][0] == "no-new-privileges"
        assert sum(option.startswith("seccomp=") for option in host["SecurityOpt"]) == 1


def test_nothing_that_docker_hides_by_default_comes_to_light() -> None:
    """An explicit list replaces the engine's own."""
    usual = {"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"}
    usual |= {"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/proc/interrupts"}
    usual |= {"/sys/devices/virtual/powercap"}
    assert usual <= set(walls(DOCKER)["MaskedPaths"])
    covered = {*walls(DOCKER)["MaskedPaths"], *walls(DOCKER)["ReadonlyPaths"]}
    assert {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"} <= covered


def test_the_counters_of_this_machines_devices_are_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("pci0000:00", "virtual", "system"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(walls_module, "_DEVICES", tmp_path)
    walls_module._device_folders.cache_clear()
    try:
        hidden = walls(DOCKER)["MaskedPaths"]
        assert {str(tmp_path / "pci0000:00"), str(tmp_path / "virtual")} <= set(hidden)
        assert str(tmp_path / "system") not in hidden, "the C library counts processors there"
        (option,) = (one for one in walls(PODMAN)["SecurityOpt"] if one.startswith("mask="))
        assert "pci0000" not in option, "a colon would end the path"
        assert str(tmp_path / "virtual") in option
    finally:
        walls_module._device_folders.cache_clear()


def test_an_engine_without_a_filter_is_not_asked_for_one_but_warned_of() -> None:
    bare = read_facts({}, {}, api_version="1.41", socket="/s")
    assert not bare.system_call_filter and any("system calls" in warning for warning in bare.warnings)
    assert not any(option.startswith("seccomp=") for option in walls(bare)["SecurityOpt"])


def test_a_record_can_name_the_profile() -> None:
    assert len(profile_digest()) == 64
