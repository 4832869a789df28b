"""Which engine is served, how often it is tried, who may use it, and when it ends; with pretended programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout
from harness.engine import Engine, find, find_engine
from harness.engine import programs as real_programs
from harness.engine import service as serve
from harness.engine.find import serve_docker, serve_podman
from harness.engine.lease import Lease
from harness.engine.probe import control_run
from harness.engine.service import Service, service_folder, services_folder, socket_in
from harness.engine.sockets import SocketCandidate, silence
from harness.engine.walls import walls
from tests.engine.children import standard_input
from tests.engine.pretended import Programs, pretended_programs
from tests.private_engine import UNCLOSED

pytestmark = [
    UNCLOSED,
    pytest.mark.skipif(not real_programs.is_root(), reason="only root serves a Docker engine"),
]
CONTROL_RUN = [
    "images/create",
    "containers/create",
    "containers/c1/start",
    "containers/c1/kill",
    "containers/c1/wait",
    "removed containers/c1",
    "removed images/sha256:12",
]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """A machine on which no engine answers, with the programs that a test adds and no others."""
    programs = pretended_programs(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{programs.folder}:/usr/bin:/bin")
    monkeypatch.setattr(real_programs, "find_program", lambda name: shutil.which(name, path=str(programs.folder)))
    monkeypatch.setattr(find, "usual_places", lambda environment: [])
    return programs


@pytest.fixture
def apart(layout: Layout, tmp_path: Path) -> Iterator[Layout]:
    """A cache of its own; nothing that was served for it runs on."""
    apart = Layout(layout.root, tmp_path / "cache", tmp_path / "local")
    yield apart
    folder = services_folder(apart.cache, {})
    for service in folder.iterdir() if folder.exists() else ():
        assert silence(service / "engine.sock"), "whoever served it must have stopped it"
    shutil.rmtree(folder, ignore_errors=True)


def test_an_engine_is_shared_and_its_last_user_stops_it(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd")
    first = serve_docker(apart.cache, {})
    assert first is not None and first.facts.served and first.name == "docker"
    second = serve_docker(apart.cache, {})
    assert second is not None and programs.starts("dockerd") == 1
    first.close()
    first.close()
    assert second.answers(), "one that is used is stopped by nobody"
    second.close()
    assert programs.calls == ["dockerd: started", "dockerd: ended"]
    folder = service_folder("docker", apart.cache, {})
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.is_file()}
    assert modes.pop("daemon.json") and modes == {"start.lock": 0o600, "users.lock": 0o600, "log.txt": 0o600}
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700


def test_without_programs_nothing_is_served(apart: Layout, programs: Programs) -> None:
    assert serve_docker(apart.cache, {}) is None and serve_podman(apart.cache, {}) is None


@pytest.mark.parametrize(
    ("there", "only", "name"),
    [
        (("dockerd", "podman"), None, "docker"),
        (("dockerd", "podman"), "podman", "podman"),
        (("dockerd", "podman"), "docker", "docker"),
        (("podman",), None, "podman"),
        (("podman",), "docker", ""),
        (("dockerd",), "podman", ""),
    ],
)
def test_a_docker_engine_is_preferred_and_a_wish_is_kept(
    apart: Layout, programs: Programs, there: tuple[str, ...], only: str | None, name: str
) -> None:
    for program in there:
        programs.add(program)
    if name:
        with find_engine(apart, only=only, environment={}) as engine:
            assert engine.name == name
        return
    with pytest.raises(EngineError) as error:
        find_engine(apart, only=only, environment={})
    assert error.value.what == f"no container engine was found ({only} was asked for)"
    assert error.value.where == "no socket, no dockerd or podman program"


def test_an_ordinary_user_is_served_podman(
    apart: Layout, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may not serve Docker is not told of its failure, either."""
    monkeypatch.setattr(real_programs, "is_root", lambda: False)
    programs.add("dockerd")
    with pytest.raises(EngineError, match="no container engine was found"):
        find_engine(apart, environment={})
    programs.add("podman")
    with find_engine(apart, environment={}) as engine:
        assert engine.name == "podman"
    assert programs.starts("dockerd") == 0


def test_the_variables_of_this_process_choose_where_none_are_given(
    apart: Layout, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'chosen'}")
    with pytest.raises(EngineError) as error:
        find_engine(apart)
    assert error.value.where == str(tmp_path / "chosen")
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("PERMAFROST_RUNTIME", "runsc")
    programs.add("dockerd")
    with pytest.raises(UsageError, match="runsc"):
        find_engine(apart)
    with find_engine(apart, environment={}) as engine:
        assert engine.facts.runtime == "runc"


def test_an_engine_that_says_nothing_of_itself_is_not_left_running(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd")
    (programs.folder / "info.json").write_text("null")
    with pytest.raises(EngineError, match="does not describe itself"):
        serve_docker(apart.cache, {})
    assert programs.calls == ["dockerd: started", "dockerd: ended"]


def test_an_engine_that_answers_is_used_before_one_is_served(
    apart: Layout, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A silent socket is named where nothing else is found; one of another kind than wanted is passed over."""
    programs.add("podman")
    elsewhere = Service("podman", [str(programs.folder / "podman"), f"unix://{socket_in(tmp_path)}"], tmp_path)
    users = Lease(elsewhere)
    silent = tmp_path / "silent.sock"
    silent.touch()
    places = [SocketCandidate(path, "usual place") for path in (tmp_path / "none", silent, elsewhere.socket)]
    monkeypatch.setattr(find, "usual_places", lambda environment: places)
    for only in (None, "podman"):
        with find_engine(apart, only=only, environment={}) as engine:
            assert (engine.socket, engine.name, engine.facts.served) == (elsewhere.socket, "podman", False)
    closed: list[Path] = []
    close = Engine.close

    def noted(engine: Engine) -> None:
        closed.append(engine.socket)
        close(engine)

    monkeypatch.setattr(Engine, "close", noted)
    with pytest.raises(EngineError) as error:
        find_engine(apart, only="docker", environment={})
    assert error.value.where == f"{silent}: nobody listens"
    assert closed == [elsewhere.socket], "its connections are not kept"
    assert programs.starts("podman") == 1
    users.release()


def test_a_runtime_that_nobody_has_leaves_no_engine_behind(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd")
    for environment, runtime in (({}, "runsc"), ({"PERMAFROST_RUNTIME": "runsc"}, None)):
        with pytest.raises(UsageError, match="runsc"):
            find_engine(apart, runtime=runtime, environment=environment)
    assert programs.calls[-1] == "dockerd: ended"
    with find_engine(apart, runtime="runc", environment={"PERMAFROST_RUNTIME": "runsc"}) as engine:
        assert engine.facts.runtime == "runc"


def test_where_one_cannot_be_served_the_other_is(
    apart: Layout, programs: Programs, caplog: pytest.LogCaptureFixture
) -> None:
    programs.add("dockerd", refusals=3)
    programs.add("podman")
    with find_engine(apart, environment={}) as engine:
        assert engine.name == "podman"
    assert caplog.messages[0] == "an engine could not be served: dockerd ended with code 9 instead of serving"


def test_where_none_can_be_served_the_first_says_why(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd", refusals=3)
    programs.add("podman", refusals=3)
    with pytest.raises(EngineError) as error:
        find_engine(apart, environment={})
    assert error.value.what == "dockerd ended with code 9 instead of serving"
    log = service_folder("docker", apart.cache, {}) / "log.txt"
    assert error.value.where == f"{log}: no room for a dockerd"
    todo = "correct what the log names, or start an engine yourself; ran: "
    assert error.value.todo.startswith(f"{todo}{programs.folder / 'dockerd'} --config-file=")
    assert programs.starts("dockerd") == programs.starts("podman") == 3


def test_a_start_that_fails_over_leftovers_is_tried_again(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd", refusals=2)
    with find_engine(apart, environment={}) as engine:
        assert engine.answers() and programs.starts("dockerd") == 3


def test_an_engine_that_never_answers_is_ended(
    apart: Layout, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "_START_SECONDS", 0.1)
    command = [sys.executable, "-IS", "-c", "import time; time.sleep(100)", str(socket_in(tmp_path))]
    service = Service("sleeper", command, tmp_path)
    with pytest.raises(EngineError) as error:
        Lease(service)
    assert error.value.what == "sleeper did not answer in time"
    assert error.value.where == f"{service.log}: (the log is empty)"
    assert not (tmp_path / "pid").exists()


def test_an_engine_that_went_away_is_served_again(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd")
    with find_engine(apart, environment={}) as engine:
        pid = int((engine.socket.parent / "pid").read_text())
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        assert not engine.answers()
        engine.renew()
        assert engine.answers() and engine.facts.served and programs.starts("dockerd") == 2


def test_podmans_defaults_are_tried_once(apart: Layout, programs: Programs) -> None:
    programs.add("podman")
    for _ in range(2):
        engine = serve_podman(apart.cache, {})
        assert engine is not None and engine.socket.parent.name == "podman"
        engine.close()
    assert programs.calls == [f"podman: {call}" for call in ("started", *CONTROL_RUN, "ended", "started", "ended")]
    assert (service_folder("podman", apart.cache, {}) / "defaults-work").exists()


@pytest.mark.parametrize("code", [None, 1000])
def test_podman_is_corrected_where_its_defaults_start_nothing(
    apart: Layout, programs: Programs, code: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a warning: that is what the corrections are for. It is found out once."""
    programs.add("podman")
    programs.end_containers_with(podman=code)
    caplog.set_level("INFO", logger="harness.engine.find")
    for _ in range(2):
        engine = serve_podman(apart.cache, {})
        assert engine is not None and engine.socket.parent.name == "podman-corrected"
        assert engine.answers()
        engine.close()
    assert programs.starts("podman") == 3 and programs.calls.count("podman: containers/create") == 2
    reason = "the runtime refuses" if code is None else "a killed container ended with code 1000, not 137"
    assert caplog.messages == [f"podman's defaults do not work here ({reason}); served with corrections"]
    assert caplog.records[0].levelname == "INFO"
    assert not (service_folder("podman", apart.cache, {}) / "defaults-work").exists()


def test_a_podman_that_starts_nothing_is_an_error_and_ends(apart: Layout, programs: Programs) -> None:
    programs.add("podman")
    programs.end_containers_with(podman=None, corrected=None)
    for _ in range(2):
        with pytest.raises(EngineError) as error:
            serve_podman(apart.cache, {})
        assert error.value.what == "podman cannot start a container: the runtime refuses"
        assert error.value.where == str(programs.folder / "podman")
        assert error.value.todo == "check `podman run` by hand, or use Docker"
        assert programs.calls[-1] == "podman: ended"
    assert programs.starts("podman") == 4, "and it is tried again: perhaps somebody mended it"


@pytest.mark.parametrize(
    ("code", "ok", "let_through"),
    [
        (137, True, ""),
        (1, True, "the system call unshare"),
        (23, True, "reading /sys/kernel/uevent_seqnum"),
        (24, False, ""),
        (0, False, ""),
    ],
)
def test_the_end_of_the_control_run_tells_what_was_let_through(
    apart: Layout, programs: Programs, code: int, ok: bool, let_through: str
) -> None:
    programs.add("dockerd")
    programs.end_containers_with(dockerd=code)
    with find_engine(apart, environment={}) as engine:
        control = control_run(engine)
        assert (control.ok, control.let_through) == (ok, let_through)
        if ok:
            # its process can't be seen, so nothing is claimed
            assert control.detail == "started, looked at, killed, removed" and control.seconds > 0
            assert (control.memory_limit_kept, control.confinement, control.broken) == (None, None, ())
        else:
            assert control.detail == f"a killed container ended with code {code}, not 137"
    assert programs.calls[-3:-1] == [f"dockerd: {call}" for call in CONTROL_RUN[-2:]]


def test_the_control_run_has_the_walls_of_a_run_and_a_limit_of_memory(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd")
    with find_engine(apart, environment={}) as engine:
        assert control_run(engine).ok
        everything = walls(engine.facts)
    asked = json.loads((programs.folder / "container.json").read_text())
    host = asked.pop("HostConfig")
    assert asked == {
        "Image": "sha256:12",
        "Entrypoint": ["/wait"],
        "User": "65534:65534",
        "Labels": {"permafrost.control": "yes"},
    }
    assert {name: host.pop(name) for name in everything} == everything
    assert host == {"Memory": 64 << 20, "MemorySwap": 64 << 20, "LogConfig": {"Type": "none", "Config": {}}}


def test_another_kind_of_processor_has_no_control_run(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd")
    programs.describe(Architecture="aarch64")
    with find_engine(apart, environment={}) as engine:
        control = control_run(engine)
    assert (control.ok, control.detail) == (True, "no control program for aarch64: not tried")
    assert programs.calls == ["dockerd: started", "dockerd: ended"]


@pytest.fixture
def apt(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `apt-get` whose packages are pretended, too; returns what it was asked, and in which mood."""
    asked = programs.folder / "asked.txt"
    program = programs.folder / "apt-get"
    program.write_text(
        f'#!/bin/sh\necho "$DEBIAN_FRONTEND: $*" >> {asked}\n'
        f'case "$1" in install) mv {programs.folder}/dockerd.packed {programs.folder}/dockerd;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(find, "_is_debian_like", lambda: True)
    return asked


def test_what_may_be_installed_is_installed_and_served(
    apart: Layout, programs: Programs, apt: Path, caplog: pytest.LogCaptureFixture
) -> None:
    programs.add("dockerd")
    (programs.folder / "dockerd").rename(programs.folder / "dockerd.packed")
    with pytest.raises(EngineError, match=r"\(podman was asked for\)"):
        find_engine(apart, install=True, only="podman", environment={})
    assert not apt.exists()
    with find_engine(apart, install=True, environment={}) as engine:
        assert engine.name == "docker" and engine.facts.served
    command = "install --yes --no-install-recommends docker.io"
    assert apt.read_text().splitlines() == [
        "noninteractive: update --quiet",
        f"noninteractive: {command}",
    ]
    assert caplog.messages == [f"no container engine was found: installing it now with `apt-get {command}`"]


@pytest.mark.parametrize(
    ("script", "where"),
    [
        ("echo out; echo first >&2; echo last >&2; exit 100", "last"),
        ("echo out; exit 100", "out"),
        ("exit 100", "it said nothing"),
        # in whatever letters, and nobody is asked
        (r"printf 'a\351' >&2; cat >&2; exit 100", "a\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_what_cannot_be_installed_says_why(
    apart: Layout, apt: Path, script: str, where: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (apt.parent / "apt-get").write_text(f"#!/bin/sh\n{script}\n")
    with standard_input(b"yes\n"), pytest.raises(EngineError) as error:
        find_engine(apart, install=True, environment={})
    assert error.value.what == "`apt-get update --quiet` ended with code 100"
    assert error.value.where == where
    assert error.value.todo == "correct what it names, or install Docker Engine or Podman yourself"
    assert capfd.readouterr().out == ""


def test_an_engine_of_another_cache_is_another(apart: Layout, programs: Programs, tmp_path: Path) -> None:
    programs.add("dockerd")
    other = Layout(apart.root, tmp_path / "other", tmp_path / "local")
    with find_engine(apart, environment={}) as one, find_engine(other, environment={}) as two:
        assert one.socket != two.socket and programs.starts("dockerd") == 2
    shutil.rmtree(services_folder(other.cache, {}))


def test_the_engine_of_a_killed_user_is_joined_and_stopped(apart: Layout, programs: Programs) -> None:
    programs.add("dockerd")
    program = (
        "import shutil, sys\nfrom pathlib import Path\nfrom harness.engine import programs\n"
        f"programs.find_program = lambda name: shutil.which(name, path={str(programs.folder)!r})\n"
        "from harness.engine.find import serve_docker\n"
        "engine = serve_docker(Path(sys.argv[1]), {})\nprint(engine.name, flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(apart.cache)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=apart.root,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "docker\n"
        process.kill()
    engine = serve_docker(apart.cache, {})
    assert isinstance(engine, Engine) and programs.starts("dockerd") == 1
    engine.close()
    assert programs.calls[-1] == "dockerd: ended"
