"""The line that a person pastes starts the container that the harness would start, no setting is lost."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine.facts import EngineFacts
from harness.engine.walls import SYSTEM_CALLS
from harness.execution.runs import Limits, Mount
from harness.execution.runs.command_line import command_line
from harness.execution.runs.container import container_configuration, write_shown_files
from harness.execution.runs.user import container_user
from tests.runs.helpers import Bench
from tests.runs.test_container import FACTS, PODMAN, REQUEST, describe

GPUS = replace(REQUEST, limits=replace(REQUEST.limits, gpus=("0", "1")))
SELINUX = replace(FACTS, selinux=True)
# what no flag of Docker's client can say
UNSAID = {"MaskedPaths", "ReadonlyPaths"}


def line(described: dict[str, Any], facts: EngineFacts = FACTS) -> list[str]:
    return command_line(described, facts, system_calls=Path("/kit/calls.json"))


@pytest.mark.parametrize("facts", [FACTS, PODMAN, SELINUX], ids=["docker", "podman", "selinux"])
@pytest.mark.parametrize("request_", [REQUEST, GPUS], ids=["cpu", "gpu"])
def test_every_setting_has_a_flag(facts: EngineFacts, request_: Any) -> None:
    described = describe(facts, request_)
    words = line(described, facts)
    assert words[-1] == request_.image_id
    for setting in described["HostConfig"].keys() - UNSAID:
        without = {name: value for name, value in described["HostConfig"].items() if name != setting}
        assert len(line({**described, "HostConfig": without}, facts)) < len(words), setting


def test_a_setting_without_a_flag_is_a_fault() -> None:
    described = describe()
    described["HostConfig"]["OomScoreAdj"] = 7
    with pytest.raises(KeyError, match="OomScoreAdj"):
        line(described)


def test_the_walls_are_on_the_line() -> None:
    words = line(describe())
    assert words[:4] == ["docker", "--host=unix:///run/engine.sock", "run", "--rm"]
    for word in (
        "--network=none",
        "--read-only=true",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--security-opt=seccomp=/kit/calls.json",
        "--init=false",
        "--memory=2147483648",
        "--memory-swap=2147483648",
        "--pids-limit=100",
        "--ulimit=core=0:0",
        "--cpus=1",
        "--user=1900000000:1900000001",
        "--env=PERMAFROST_SEED=7",
        "--mount=type=bind,source=/data/in,target=/in,readonly,bind-propagation=rprivate",
        "--mount=type=bind,source=/data/run/out,target=/out,bind-propagation=rprivate",
    ):
        assert word in words


def test_a_usual_socket_needs_no_name_and_a_served_podman_no_service() -> None:
    assert line(describe(), replace(FACTS, socket="/var/run/docker.sock"))[:2] == ["docker", "run"]
    assert line(describe(PODMAN), PODMAN)[:3] == ["podman", "--remote", "--url=unix:///run/engine.sock"]
    served = replace(PODMAN, served=True)
    assert line(describe(served), served)[:3] == ["env", "CONTAINERS_CONF=/run/containers.conf", "podman"]


def test_a_program_of_its_own_is_split_as_clients_want_it() -> None:
    described = describe(request=replace(REQUEST, entrypoint=("/init", "--", "python"), command=("-c", "pass")))
    words = line(described)
    assert "--entrypoint=/init" in words
    assert words[-5:] == [REQUEST.image_id, "--", "python", "-c", "pass"]


@contextmanager
def made(bench: Bench, words: list[str]) -> Iterator[str]:
    """The container of a line, made and never started."""
    at = words.index("run")
    done = subprocess.run([*words[:at], "create", *words[at + 2 :]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    identity = done.stdout.strip()
    try:
        yield identity
    finally:
        bench.engine.api.remove_container(identity, force=True)


def in_order(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, list) else value


# What engines say of a container in words of their own, or not at all.
_SAID_OTHERWISE = {"SecurityOpt", "LogConfig", "Mounts", "Binds", "Tmpfs", "MaskedPaths", "ReadonlyPaths"}


@pytest.mark.engine
def test_the_engine_is_told_the_same(bench: Bench, tmp_path: Path) -> None:
    """Also with a folder whose name a shell and a line of CSV read otherwise."""
    folder = tmp_path / "a b,c'd"
    folder.mkdir()
    program = "import os; open('/out/made', 'w').write(open('/in/told').read() + str(os.getuid()))"
    request = replace(bench.request(program), in_folder=folder / "in", mounts=(Mount(folder, "/opt/upstream"),))
    user = container_user(bench.engine.facts, uid=0, gid=0)
    for name in ("in", "out", "shown"):
        (folder / name).mkdir()
    (folder / "out").chmod(0o777)
    (folder / "in" / "told").write_text("told ")
    write_shown_files(folder / "shown", Limits(seconds=1, memory_bytes=1 << 30))
    described = container_configuration(
        request, bench.engine.facts, out=folder / "out", shown=folder / "shown", run="r", owner="", user=user
    )
    words = command_line(described, bench.engine.facts, system_calls=SYSTEM_CALLS)
    api = bench.engine.api
    ours = api.create_container_from_config(described)["Id"]
    try:
        with made(bench, words) as theirs:
            first, second = (api.inspect_container(one) for one in (ours, theirs))
    finally:
        api.remove_container(ours, force=True)
    for name in described["HostConfig"].keys() - _SAID_OTHERWISE:
        assert in_order(first["HostConfig"][name]) == in_order(second["HostConfig"][name]), name
    places = [
        sorted((one["Source"], one["Destination"], one["RW"], one["Propagation"]) for one in told["Mounts"])
        for told in (first, second)
    ]
    assert places[0] == places[1] and len(places[0]) >= 8
    for name in ("User", "Hostname", "Env", "Labels"):
        assert in_order(first["Config"][name]) == in_order(second["Config"][name]), name
    assert first["Path"] == second["Path"] and first["Args"] == second["Args"]
    pasted = subprocess.run(["bash", "-c", shlex.join(words)], capture_output=True, text=True, check=False)
    assert pasted.returncode == 0, pasted.stderr
    assert (folder / "out" / "made").read_text() == f"told {user.uid}"
