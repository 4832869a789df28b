"""What an engine and the kernel are asked for: limits a user was given, a search on a machine, a control run."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import docker
import pytest

from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout
from harness.engine import Engine, cgroup, custody, find, probe, sockets
from harness.engine import engine as engine_module
from harness.engine import service as serve
from harness.engine.cgroup import ControlGroup, mounts
from harness.engine.confinement import Confinement, confinement_in
from harness.engine.engine import _delegated_to_podman
from harness.engine.facts import read_facts
from harness.engine.find import find_engine
from harness.engine.service import Service
from harness.engine.sockets import SocketCandidate, silence, usual_places
from tests.engine.clock import Clock
from tests.private_engine import UNCLOSED
from tests.runs.fake_engine import FakeEngine

pytestmark = UNCLOSED

INFO: dict[str, Any] = {"SecurityOptions": ["name=seccomp"], "DefaultRuntime": "runc", "Runtimes": {"runc": {}}}


def podman_that_says(status: int, told: object) -> docker.APIClient:
    """The client of a Podman that answers about itself so; the address that is asked must be Podman's own."""

    def get(address: str, timeout: int) -> SimpleNamespace:
        assert address == "http://x/v4.0.0/libpod/info" and timeout == 120
        return SimpleNamespace(status_code=status, json=lambda: told)

    return cast("docker.APIClient", SimpleNamespace(base_url="http://x", get=get))


@pytest.mark.parametrize(
    ("status", "told", "controllers"),
    [
        (200, {"host": {"cgroupControllers": ["memory", "pids"]}}, {"memory", "pids"}),
        (200, {"host": {"cgroupControllers": None}}, set()),
        (200, {"host": {}}, set()),
        (200, {}, set()),
        *((status, {"host": {"cgroupControllers": ["memory"]}}, set()) for status in (404, 500)),
    ],
)
def test_a_user_has_the_limits_that_podman_was_given(status: int, told: object, controllers: set[str]) -> None:
    found = _delegated_to_podman(podman_that_says(status, told))
    assert found == controllers
    facts = read_facts({}, {**INFO, "CgroupVersion": "2"}, api_version="1", socket="/s", delegated=found)
    enforced = facts.memory_limit_enforced, facts.process_limit_enforced, facts.cpu_limit_enforced
    assert enforced == tuple(name in controllers for name in ("memory", "pids", "cpu"))


def test_a_runtime_that_a_person_chose_is_kept_when_an_engine_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, released = list[int](), list[int]()

    def connect(address: str) -> SimpleNamespace:
        info = {**INFO, "Runtimes": {"runc": {}, "crun": {}}}
        api = SimpleNamespace(version=dict, info=lambda: info, api_version="1.41")
        return SimpleNamespace(api=api, close=lambda: closed.append(1))

    monkeypatch.setattr("harness.engine.engine._connect", connect)
    monkeypatch.setattr("harness.engine.engine.silence", lambda socket: "")
    engine = Engine(tmp_path / "s", release=lambda: released.append(1))
    assert engine.facts.runtime != "crun"
    engine.use_runtime("crun")
    assert engine.facts.runtime == "crun", "records and messages name it at once"
    engine.renew()
    assert engine.facts.runtime == "crun" and (closed, released) == ([1], [])
    before = engine.client
    for _ in range(2):
        engine.close()
        assert (closed, released) == ([1, 1], [1]), "what is closed once more is closed already"
    # who asks it all the same is given a connection that is open
    assert engine.client is not before


def test_an_engine_that_stays_away_says_what_to_do(tmp_path: Path) -> None:
    fake = FakeEngine(tmp_path / "s")
    with Engine(fake.socket_path) as engine:
        assert engine.client.api.timeout == 120
        fake.close()
        with pytest.raises(EngineError) as error:
            engine.renew(patience=0.0)
    assert error.value.what == "the docker engine went away and did not come back within 0 s"
    assert error.value.where == str(fake.socket_path)
    assert error.value.todo == "start it again; finished runs are kept and the rest resumes"


def test_an_engine_that_comes_back_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute at most; who asks for less gets less."""
    clock = Clock()
    monkeypatch.setattr(engine_module, "time", clock)
    fake = FakeEngine(tmp_path / "s")
    with Engine(fake.socket_path) as engine:
        adapter: Any = engine.client.api.get_adapter(engine.client.api.base_url)
        assert adapter.max_pool_size == 64, "room for many threads"
        monkeypatch.setattr(engine_module, "silence", lambda socket: "" if len(clock.waits) >= 7 else "gone")
        engine.renew()
        assert clock.waits == [0.2] * 7
        monkeypatch.setattr(engine_module, "silence", lambda socket: "gone")
        for patience, most in (({}, 60.0), ({"patience": 3.0}, 3.0)):
            clock.waits.clear()
            with pytest.raises(EngineError, match=f"within {most:.0f} s"):
                engine.renew(**patience)
            assert sum(clock.waits) == pytest.approx(most, abs=0.41)
    fake.close()


def test_a_broken_connection_does_not_keep_an_engine_from_coming_back(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError

    fake = FakeEngine(tmp_path / "s")
    with Engine(fake.socket_path) as engine:
        stale = engine.client
        engine._client = cast(docker.DockerClient, SimpleNamespace(close=fail))
        engine.renew()
        assert engine.answers() and engine.client is not stale
    stale.close()
    fake.close()


def test_a_wrong_wish_says_where_to_name_another_runtime(tmp_path: Path) -> None:
    engine = cast(
        Engine,
        SimpleNamespace(name="docker", socket=Path("/s"), api=SimpleNamespace(info=lambda: INFO), facts=None),
    )
    with pytest.raises(UsageError) as error:
        Engine.use_runtime(engine, "crun")
    assert error.value.todo == (
        "name one of these, or tell the engine about it (Docker: daemon.json; Podman: containers.conf)"
    )


def test_no_engine_at_all_says_how_to_have_one(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(find, "usual_places", lambda environment: [])
    monkeypatch.setattr(find, "_served", lambda *_: None)
    with pytest.raises(EngineError) as error:
        find_engine(layout, environment={})
    assert error.value.what == "no container engine was found"
    assert error.value.where == "no socket, no dockerd or podman program"
    assert error.value.todo == (
        "install Docker Engine or Podman and start it, for example (Debian, Ubuntu): "
        "apt-get install docker.io && systemctl start docker, or: apt-get install podman, "
        "or run this as root with installation allowed"
    )
    silent = tmp_path / "silent"
    with pytest.raises(EngineError) as error:
        find_engine(layout, environment={"CONTAINER_HOST": f"unix://{silent}"})
    assert error.value.what == "the engine named by $CONTAINER_HOST does not answer: no such socket"
    assert error.value.where == str(silent)
    assert error.value.todo == "start it, or unset $CONTAINER_HOST so that another engine is looked for"


def test_several_silent_sockets_are_all_named(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        path.touch()
    monkeypatch.setattr(find, "usual_places", lambda environment: [SocketCandidate(path, "") for path in paths])
    monkeypatch.setattr(find, "_served", lambda *_: None)
    with pytest.raises(EngineError) as error:
        find_engine(layout, environment={})
    assert error.value.where == "; ".join(f"{path}: nobody listens" for path in paths)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("ID=debian\n", True),
        ('NAME="x"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', True),
        ("ID=raspbian\nID_LIKE=debian\n", True),
        ("ID=debian\nID_LIKE=linux\n", True),
        ('ID="ubuntu"\nno assignment\nHOME_URL="https://x/?a=b"\n', True),
        ('ID=fedora\nID_LIKE="rhel centos"\nNAME=debian\n', False),
        ("ID=debianish\n", False),
        ("", False),
        (None, False),
    ],
)
def test_where_packages_of_debian_fit(monkeypatch: pytest.MonkeyPatch, text: str | None, is_one: bool) -> None:
    def read(path: Path, encoding: str) -> str:
        assert str(path) == "/etc/os-release"
        if text is None:
            raise FileNotFoundError
        return text

    monkeypatch.setattr(Path, "read_text", read)
    assert find._is_debian_like() is is_one


@pytest.mark.parametrize(
    ("user", "program", "may"), [(0, "/usr/bin/apt-get", True), (0, None, False), (7, "x", False)]
)
def test_only_root_installs(monkeypatch: pytest.MonkeyPatch, user: int, program: str | None, may: bool) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr("shutil.which", lambda name: program if name == "apt-get" else None)
    monkeypatch.setattr(find, "_is_debian_like", lambda: True)
    assert find._may_install() is may


def test_a_socket_that_may_not_be_used_says_who_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("harness.engine.sockets._UnixConnection.connect", refuse)
    path = tmp_path / "s"
    assert silence(path) == f"no permission: add your user to the group of {path}, or use rootless Podman"

    def reset(*_: object) -> None:
        raise ConnectionResetError

    monkeypatch.setattr("harness.engine.sockets._UnixConnection.connect", reset)
    assert silence(path) == "no answer: ConnectionResetError", "a reason without words has a name"
    monkeypatch.undo()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(path))
        deaf.listen()
        assert silence(path, timeout=0.05) == "no answer: timed out"
    assert {place.source for place in usual_places({"XDG_RUNTIME_DIR": "/x"})} == {"usual place"}


def test_an_answer_is_waited_for_five_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nonsense answer, or none but the end of the connection, is no answer; and each connection is closed.

    Whoever answers that there is no such page, or somewhere else, is no engine.
    """
    asked: list[float | None] = []

    class Noting(sockets._UnixConnection):
        def connect(self) -> None:
            asked.append(self.timeout)
            super().connect()

    monkeypatch.setattr(sockets, "_UnixConnection", Noting)
    before = len(list(Path("/proc/self/fd").iterdir()))
    answers = [(b"nonsense\r\n\r\n", "no answer: nonsense"), (b"", "no answer: Remote end closed")]
    for status in (204, 301, 404, 500):
        words = f"HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n".encode()
        answers.append((words, f"answered with HTTP status {status}"))
    for words, reason in answers:
        with socket.socket(socket.AF_UNIX) as server:
            path = tmp_path / f"s{len(asked)}"
            server.bind(str(path))
            server.listen()

            def answer(server: socket.socket = server, words: bytes = words) -> None:
                connection, _ = server.accept()
                with connection:
                    asked_for = connection.recv(4096)
                    assert b"GET /_ping " in asked_for and b"Host: localhost\r\n" in asked_for
                    connection.sendall(words)

            thread = threading.Thread(target=answer)
            thread.start()
            assert silence(path).startswith(reason)
            thread.join()
    assert asked == [5.0] * len(answers)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_cache_that_served_nothing_has_no_engines(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custody, "services_folder", lambda *_: tmp_path / "nowhere")
    assert custody.served_services(layout.cache, {}) == []


def test_an_image_is_imported_under_its_whole_name() -> None:
    asked: list[tuple[object, ...]] = []

    def load(archive: bytes, *, repository: str, tag: str) -> str:
        asked.append((archive, repository, tag))
        return '{"status": "sha256:1"}'

    engine = cast(Engine, SimpleNamespace(api=SimpleNamespace(import_image_from_data=load)))
    assert probe.import_tree(engine, b"a", "x/y") == "sha256:1"
    assert asked == [(b"a", "localhost/x/y", "latest")]


STATUS = "State:\tR (running)\nUid:\t1\t2\t3\t4\nCapEff:\t00000000000000ff\nNoNewPrivs:\t0\nSeccomp:\t2\n"


def test_a_status_that_is_cut_or_of_the_dead_is_none() -> None:
    """The rights are written in hexadecimal numbers, and the user that counts is the effective one."""
    assert confinement_in(STATUS) == Confinement(False, True, 255, 2)
    lines = STATUS.splitlines(keepends=True)
    for number in range(len(lines)):
        assert confinement_in("".join(lines[:number] + lines[number + 1 :])) is None
    for state in ("Z (zombie)", "X (dead)"):
        assert confinement_in(STATUS.replace("R (running)", state)) is None


def test_the_first_of_two_mounts_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (
        "31 23 0:28 / /first rw - cgroup cgroup rw,memory\n"
        "32 23 0:28 / /second rw - cgroup cgroup rw,memory,freezer\n"
    )
    monkeypatch.setattr(Path, "read_text", lambda self, **_: lines)
    assert mounts.__wrapped__() == {"memory": Path("/first"), "freezer": Path("/second")}


def test_a_place_whose_name_is_not_utf_8_hides_no_mount(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As of a stick that an old system named, and anything is mounted beside it."""
    shown = tmp_path / "mountinfo"
    shown.write_bytes(
        b"30 23 8:17 / /media/M\xfcsik rw - vfat /dev/sdb1 rw\n31 23 0:28 / /memory rw - cgroup cgroup rw,memory\n"
    )
    monkeypatch.setattr(cgroup, "Path", lambda text: shown if text == "/proc/self/mountinfo" else Path(text))
    assert mounts.__wrapped__() == {"memory": Path("/memory")}


def test_a_machine_that_shows_no_mounts_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path, **_: Any) -> str:
        assert str(path) == "/proc/self/mountinfo"
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", read)
    assert mounts.__wrapped__() == {}


def test_each_controller_of_the_first_version_has_its_own_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is mounted nowhere, or whose group is another's, claims nothing."""
    for controller, name, text in (
        ("memory", "memory.max_usage_in_bytes", "900"),
        ("cpuacct", "cpuacct.usage", "2500000000"),
        ("freezer", "freezer.state", "FROZEN"),
    ):
        (tmp_path / controller / "abc").mkdir(parents=True)
        (tmp_path / controller / "abc" / name).write_text(text)
    places = {name: tmp_path / name for name in ("memory", "cpuacct", "freezer")}
    groups = dict.fromkeys(places, "/abc")
    monkeypatch.setattr(cgroup, "mounts", lambda: places)
    monkeypatch.setattr(cgroup, "groups_of", lambda text: groups)

    def seen() -> tuple[int | None, float | None, bool]:
        group = ControlGroup(os.getpid(), "abc")
        return group.usage.peak_bytes, group.usage.cpu_seconds, group.is_frozen()

    assert seen() == (900, 2.5, True)
    groups["cpuacct"] = "/user"
    assert seen() == (900, None, True)
    del places["freezer"]
    assert seen() == (900, None, False)
    groups["memory"] = "/user"
    assert seen() == (None, None, False)


def test_without_its_first_group_the_number_of_kills_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abc" / "inner").mkdir(parents=True)
    (tmp_path / "abc" / "inner" / "memory.oom_control").write_text("oom_kill 3\n")
    monkeypatch.setattr(cgroup, "mounts", lambda: {"memory": tmp_path})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: {"memory": "/abc/inner"})
    assert ControlGroup(os.getpid(), "abc").usage.kills is None


def test_a_reason_in_a_log_is_its_last_line_and_not_too_long(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"first\n\xff" + b"x" * 500 + b"end\n  \n\n")
    assert serve._last_line(log) == "x" * 397 + "end"
    log.write_text(" \n")
    assert serve._last_line(log) == "(the log is empty)"


def test_a_process_is_an_engine_only_by_its_command_line(tmp_path: Path) -> None:
    service = Service("x", (), tmp_path)
    assert serve._pid_of(service) is None
    (tmp_path / "pid").write_text("no number")
    assert serve._pid_of(service) is None
    for words, is_it in ((["sleep", "60"], False), (["tail", "-f", "/dev/null", str(service.socket)], True)):
        with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
            (tmp_path / "pid").write_text(f"{process.pid}\n")
            assert serve._pid_of(service) == (process.pid if is_it else None)
            process.kill()
