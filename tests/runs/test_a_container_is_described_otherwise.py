"""The whole description of a container, setting by setting, and the whole line that starts it."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine.facts import EngineFacts
from harness.engine.walls import walls
from harness.execution import kit
from harness.execution.runs import Limits
from harness.execution.runs.command_line import command_line
from harness.execution.runs.container import container_configuration, shown_mounts, write_shown_files
from harness.execution.runs.user import ContainerUser
from tests.runs.test_container import FACTS, OWN, PODMAN, REQUEST, describe

SHOWN = {
    "/data/run/shown/meminfo": "/proc/meminfo",
    "/data/run/shown/stat": "/proc/stat",
    "/data/run/shown/uptime": "/proc/uptime",
    "/data/run/shown/loadavg": "/proc/loadavg",
    "/data/run/shown/resolv.conf": "/etc/resolv.conf",
}
PLACES = {"/data/in": "/in", "/data/run/out": "/out", **SHOWN, "/data/upstream": "/opt/upstream"}
BOUNDS = {
    "nofile": 4096,
    "nproc": 132,
    "sigpending": 4096,
    "memlock": 65536,
    "msgqueue": 0,
    "fsize": 1 << 20,
    "core": 0,
}


@pytest.fixture(autouse=True)
def no_limits_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness that is bounded itself can't give more: see the last tests."""
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1, resource.RLIM_INFINITY))


def host(facts: EngineFacts = FACTS, *, gpus: bool = False) -> dict[str, Any]:
    """All that the engine is told beside image, user and environment."""
    return {
        **walls(facts, gpus=gpus),
        "ShmSize": 64 << 20,
        "Tmpfs": {"/tmp": "rw,nosuid,nodev,noexec,mode=1777,size=1048576"},
        "Memory": 2 << 30,
        "MemorySwap": 2 << 30,
        "PidsLimit": 100,
        "Ulimits": [{"Name": name, "Soft": bound, "Hard": bound} for name, bound in BOUNDS.items()],
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
        "Mounts": [
            {
                "Type": "bind",
                "Source": source,
                "Target": target,
                "ReadOnly": target != "/out",
                "BindOptions": {"Propagation": "rprivate"},
            }
            for source, target in PLACES.items()
        ],
        "NanoCpus": 1_000_000_000,
    }


def test_a_container_is_described_whole() -> None:
    assert describe() == {
        "Image": REQUEST.image_id,
        "User": "1900000000:1900000001",
        "Hostname": "permafrost",
        "Env": ["LOGNAME=permafrost", "PERMAFROST_SEED=7", "USER=permafrost"],
        "Labels": {"permafrost.key": "k", "permafrost.run": "r", "permafrost.harness": "/lock"},
        "AttachStdout": True,
        "AttachStderr": True,
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": host(),
    }


def test_a_program_of_its_own_and_its_variables_are_told() -> None:
    request = replace(
        REQUEST,
        seed=None,
        environment={"A": "1", "USER": "other"},
        entrypoint=("/init", "--"),
        command=("python3",),
        limits=replace(REQUEST.limits, cpus=2.5, memory_bytes=32 << 20, scratch_bytes=7),
    )
    described = describe(request=request)
    assert described["Env"] == ["A=1", "LOGNAME=permafrost", "USER=other"]
    assert (described["Entrypoint"], described["Cmd"]) == (["/init", "--"], ["python3"])
    assert described["HostConfig"]["NanoCpus"] == 2_500_000_000
    assert described["HostConfig"]["ShmSize"] == 32 << 20, "no more than its memory"
    assert described["HostConfig"]["Tmpfs"]["/tmp"].endswith(",size=7")
    assert not {"Entrypoint", "Cmd"} & describe().keys()
    assert "PERMAFROST_SEED=0" in describe(request=replace(REQUEST, seed=0))["Env"], "a seed like any other"


def test_a_gpu_is_asked_for_word_for_word() -> None:
    request = replace(REQUEST, limits=replace(REQUEST.limits, gpus=("3", "5")))
    asked = [{"Driver": "nvidia", "DeviceIDs": ["3", "5"], "Capabilities": [["gpu"]]}]
    assert describe(request=request)["HostConfig"] == {**host(gpus=True), "DeviceRequests": asked}
    devices = [{"PathOnHost": f"nvidia.com/gpu={number}"} for number in "35"]
    assert describe(PODMAN, request)["HostConfig"] == {**host(PODMAN, gpus=True), "Devices": devices}
    assert describe(PODMAN)["HostConfig"] == host(PODMAN)


def test_selinux_is_told_of_every_folder() -> None:
    facts = replace(FACTS, selinux=True)
    expected = {name: value for name, value in host(facts).items() if name != "Mounts"}
    binds = [f"{source}:{target}:{'rw' if target == '/out' else 'ro'},z" for source, target in PLACES.items()]
    assert describe(facts)["HostConfig"] == {**expected, "Binds": binds}


def test_a_folder_is_named_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for selinux in (False, True):
        described = container_configuration(
            replace(REQUEST, in_folder=Path("in"), mounts=()),
            replace(FACTS, selinux=selinux),
            out=Path("out"),
            shown=Path("shown"),
            run="r",
            owner="",
            user=OWN,
        )
        bound = described["HostConfig"]
        binds = [one.split(":")[0] for one in bound.get("Binds", ())]
        places = [*binds, *(one["Source"] for one in bound.get("Mounts", ()))]
        assert all(place.startswith(f"{tmp_path}/") for place in places) and len(places) == 7


def test_who_has_other_processes_is_bounded_far_above_what_one_run_may_have() -> None:
    described = describe(user=ContainerUser(1000, 1001, own=False))
    bounds = {one["Name"]: (one["Soft"], one["Hard"]) for one in described["HostConfig"]["Ulimits"]}
    assert bounds == {name: (bound, bound) for name, bound in {**BOUNDS, "nproc": 16384}.items()}
    assert described["User"] == "1000:1001"


def test_no_bound_is_above_the_harness_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {
        resource.RLIMIT_NOFILE: 11,
        resource.RLIMIT_NPROC: 12,
        resource.RLIMIT_SIGPENDING: 13,
        resource.RLIMIT_MEMLOCK: 14,
    }
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1, own[kind]))
    bounds = {one["Name"]: one["Hard"] for one in describe()["HostConfig"]["Ulimits"]}
    assert bounds == {**BOUNDS, "nofile": 11, "nproc": 12, "sigpending": 13, "memlock": 14}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1, 1 << 40))
    assert {one["Name"]: one["Hard"] for one in describe()["HostConfig"]["Ulimits"]} == BOUNDS


def test_what_is_shown_of_the_machine_is_the_run_s_memory_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "shown"
    write_shown_files(place, Limits(seconds=1, memory_bytes=(3 << 30) + 1023))
    texts = {path.name: path.read_text() for path in place.iterdir()}
    assert texts == {
        "meminfo": "MemTotal:        3145728 kB\nMemFree:         3145728 kB\nMemAvailable:    3145728 kB\n"
        "Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\n"
        "SwapFree:              0 kB\n",
        "stat": "cpu  0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\n"
        "procs_blocked 0\n",
        "uptime": "0.00 0.00\n",
        "loadavg": "0.00 0.00 0.00 1/1 1\n",
        "resolv.conf": "",
    }
    assert place.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in place.iterdir()} == {0o444}
    assert [(str(one.source), one.target) for one in shown_mounts(Path("/data/run/shown"))] == list(SHOWN.items())
    write_shown_files(place, Limits(seconds=1, memory_bytes=1 << 30))
    assert (place / "meminfo").read_text().startswith("MemTotal:        1048576 kB\n"), "written once more"


def line(facts: EngineFacts, described: dict[str, Any]) -> list[str]:
    return command_line(described, facts, system_calls=Path("/kit/calls.json"))


def test_the_line_is_whole_and_in_the_order_of_the_description() -> None:
    words = line(FACTS, describe())
    assert words == [
        "docker",
        "--host=unix:///run/engine.sock",
        "run",
        "--rm",
        "--pull=never",
        "--network=none",
        "--read-only=true",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--security-opt=seccomp=/kit/calls.json",
        "--privileged=false",
        "--init=false",
        "--ipc=private",
        "--cgroupns=private",
        "--runtime=runc",
        "--shm-size=67108864",
        "--tmpfs=/tmp:rw,nosuid,nodev,noexec,mode=1777,size=1048576",
        "--memory=2147483648",
        "--memory-swap=2147483648",
        "--pids-limit=100",
        *(f"--ulimit={name}={bound}:{bound}" for name, bound in BOUNDS.items()),
        "--log-driver=none",
        "--restart=no",
        *(
            f"--mount=type=bind,source={source},target={target},"
            f"{'' if target == '/out' else 'readonly,'}bind-propagation=rprivate"
            for source, target in PLACES.items()
        ),
        "--cpus=1",
        "--user=1900000000:1900000001",
        "--hostname=permafrost",
        "--env=LOGNAME=permafrost",
        "--env=PERMAFROST_SEED=7",
        "--env=USER=permafrost",
        "--label=permafrost.harness=/lock",
        "--label=permafrost.key=k",
        "--label=permafrost.run=r",
        "--no-healthcheck",
        REQUEST.image_id,
    ]


def test_the_line_of_an_engine_says_it_in_its_own_words() -> None:
    gpus = replace(REQUEST, limits=replace(REQUEST.limits, gpus=("3", "5"), cpus=2.5))
    docker, podman = line(FACTS, describe(request=gpus)), line(PODMAN, describe(PODMAN, gpus))
    assert '--gpus="device=3,5"' in docker and "--cpus=2.5" in docker
    assert [word for word in podman if word.startswith("--device")] == [
        "--device=nvidia.com/gpu=3",
        "--device=nvidia.com/gpu=5",
    ]
    (mask,) = (word for word in podman if word.startswith("--security-opt=mask="))
    assert mask.removeprefix("--security-opt=") == walls(PODMAN, gpus=True)["SecurityOpt"][-1]
    runsc = replace(FACTS, runtime="runsc")
    assert "--runtime=runsc" in line(runsc, describe(runsc))
    selinux = replace(FACTS, selinux=True)
    assert [word for word in line(selinux, describe(selinux)) if word.startswith("--volume=")] == [
        f"--volume={bind}" for bind in describe(selinux)["HostConfig"]["Binds"]
    ]


def test_a_folder_with_a_comma_is_one_field_of_a_mount() -> None:
    request = replace(REQUEST, in_folder=Path('/a,b"c'), mounts=())
    mounts = [word for word in line(FACTS, describe(request=request)) if word.startswith("--mount=")]
    assert mounts[0] == '--mount=type=bind,"source=/a,b""c",target=/in,readonly,bind-propagation=rprivate'


@pytest.mark.parametrize(
    ("facts", "more"),
    [
        (FACTS, ["Docker's client hides fewer files of the kernel than the harness has it hide"]),
        (
            replace(FACTS, served=True),
            [
                "Docker's client hides fewer files of the kernel than the harness has it hide",
                "the engine is served by the harness: `harness engine start` keeps it running for this line",
            ],
        ),
        (PODMAN, []),
        (
            replace(PODMAN, served=True),
            ["Podman's images are your own: no service need run for this line"],
        ),
    ],
    ids=["docker", "docker served", "podman", "podman served"],
)
def test_what_the_line_alone_does_not_do_is_said(facts: EngineFacts, more: list[str]) -> None:
    assert list(kit._remarks(facts, Limits(seconds=90, memory_bytes=1))) == [
        "nobody ends it after 90 s, and nobody looks how much it writes: the harness's own clock and eyes do that",
        *more,
    ]
