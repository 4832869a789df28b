"""The control run asks an engine for these things in this order, and looks at the kernel; a fault is an answer."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import docker.errors
import pytest
import requests

from harness.engine import Engine, cgroup, probe
from harness.engine.confinement import Confinement, broken_walls
from harness.engine.facts import read_facts
from harness.engine.probe import ControlRun, control_run, static_program
from harness.engine.prohibitions import FORBIDDEN, Forbidden, _try_call, _try_file, trying_program

INFO = {"SecurityOptions": ["name=seccomp"], "DefaultRuntime": "runc", "Architecture": "amd64"}
FACTS = read_facts({}, INFO, api_version="1.41", socket="/s")
LOOSE = Confinement(no_new_privileges=False, system_calls_filtered=False, capabilities=7, user=3)
REFUSED = docker.errors.APIError("a long story", explanation="the runtime refuses")
REMOVED = [
    ("remove_container", ("c1",), {"force": True, "v": True}),
    ("remove_image", ("sha256:12",), {"force": True}),
]
Faults = dict[str, Exception]


class Api:
    """An engine's calls, noted; each may fail."""

    def __init__(self, *, code: int = 137, pid: int | None = None, faults: Faults | None = None) -> None:
        self.code, self.state, self.faults = code, {} if pid is None else {"Pid": pid}, faults or {}
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.archive, self.imported = b"", '{"status":"sha256:12"}'

    def __getattr__(self, name: str) -> Any:
        def call(*words: Any, **how: Any) -> Any:
            if name == "import_image_from_data":
                self.archive, words = words[0], ()
            self.calls.append((name, words, how))
            if name in self.faults:
                raise self.faults[name]
            answers = {"create_container_from_config": {"Id": "c1"}, "wait": {"StatusCode": self.code}}
            answers |= {"inspect_container": {"State": self.state}, "import_image_from_data": self.imported}
            return answers.get(name)

        return call


def run(api: Api) -> ControlRun:
    return control_run(cast(Engine, SimpleNamespace(api=api, facts=FACTS)))


def test_it_starts_looks_kills_waits_and_removes() -> None:
    api = Api()
    assert run(api).ok
    assert api.calls == [
        ("import_image_from_data", (), {"repository": "localhost/permafrost/control", "tag": "latest"}),
        ("create_container_from_config", (probe._configuration("sha256:12", FACTS),), {}),
        ("start", ("c1",), {}),
        ("inspect_container", ("c1",), {}),
        ("kill", ("c1",), {}),
        ("wait", ("c1",), {"timeout": 30}),
        *REMOVED,
    ]
    with tarfile.open(fileobj=io.BytesIO(api.archive)) as archive:
        program = archive.extractfile("wait")
        # all attempts, and then the wait for ever
        assert program is not None and program.read() == static_program(trying_program() + WAIT)


@pytest.mark.parametrize(("limit", "kept"), [(64 << 20, True), ((64 << 20) + 4096, False)])
def test_what_the_kernel_says_is_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, kept: bool
) -> None:
    """Of the process that the engine names; nothing stays open."""
    group = tmp_path / "c1"
    group.mkdir()
    texts = {
        "memory.limit_in_bytes": f"{limit}\n",
        "memory.oom_control": "oom_kill 0\n",
        "cgroup.event_control": "",
    }
    for name, text in texts.items():
        (group / name).write_text(text)
    monkeypatch.setattr(cgroup, "mounts", lambda: {"memory": tmp_path})
    monkeypatch.setattr(cgroup, "groups_of", lambda text: {"memory": "/c1"})
    asked: list[int] = []

    def read(pid: int) -> Confinement:
        asked.append(pid)
        return LOOSE

    monkeypatch.setattr(probe, "read_confinement", read)
    before = len(list(Path("/proc/self/fd").iterdir()))
    control = run(Api(code=3, pid=os.getpid()))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert asked == [os.getpid()] and 0 < control.seconds < 60
    broken = tuple(broken_walls(LOOSE, FACTS))
    expected = (
        True,
        "started, looked at, killed, removed",
        control.seconds,
        kept,
        LOOSE,
        FORBIDDEN[2].name,
        broken,
    )
    assert control == ControlRun(*expected) and len(broken) == 3


@pytest.mark.parametrize("pid", [None, 0])
def test_an_engine_that_names_no_process_is_asked_no_further(pid: int | None) -> None:
    control = run(Api(pid=pid))
    assert (control.ok, control.memory_limit_kept, control.confinement, control.broken) == (True, None, None, ())


@pytest.mark.parametrize(
    ("call", "error", "detail", "removed"),
    [
        ("import_image_from_data", OSError("no room"), "no room", []),
        ("create_container_from_config", REFUSED, "the runtime refuses", REMOVED[1:]),
        ("start", docker.errors.APIError("a long story"), "a long story", REMOVED),
        ("start", docker.errors.DockerException("odd"), "odd", REMOVED),
        ("inspect_container", REFUSED, "the runtime refuses", REMOVED),
        ("kill", requests.ConnectionError("cut"), "cut", REMOVED),
        ("wait", requests.ReadTimeout("too long"), "too long", REMOVED),
    ],
)
def test_a_fault_is_told_and_what_there_was_is_removed(
    call: str, error: Exception, detail: str, removed: list[object]
) -> None:
    api = Api(faults={call: error})
    control = run(api)
    assert control == ControlRun(ok=False, detail=detail) and control.seconds == 0
    assert [one for one in api.calls if one[0].startswith("remove")] == removed


def test_an_image_that_is_refused_is_a_fault_too() -> None:
    api = Api()
    api.imported = '{"error":"no space"}'
    assert run(api) == ControlRun(ok=False, detail="the engine could not import an image: no space")
    assert len(api.calls) == 1


def test_a_program_that_ended_by_itself_can_not_be_killed() -> None:
    control = run(Api(code=1, faults={"kill": REFUSED}))
    assert control.ok and control.let_through == "the system call unshare"


@pytest.mark.parametrize("error", [REFUSED, docker.errors.DockerException("odd"), OSError("gone")])
@pytest.mark.parametrize("call", ["remove_container", "remove_image"])
def test_what_can_not_be_removed_is_no_fault_of_the_run(call: str, error: Exception) -> None:
    assert run(Api(faults={call: error})).ok


# As an assembler writes them: 64 bytes of header, 56 of a segment that may be read and executed.
WAIT = bytes.fromhex("b8 22000000 0f05 eb f7")
ELF = bytes.fromhex(
    "7f454c46 02 01 01 00 0000000000000000 0200 3e00 01000000 7800400000000000 4000000000000000 0000000000000000"
    "00000000 4000 3800 0100 4000 0000 0000"
    "01000000 05000000 0000000000000000 0000400000000000 0000400000000000 7a00000000000000 7a00000000000000"
    "0010000000000000"
)
# bf, be, ba: the first arguments; the others 0; b8: the call; two answers that go on; exit(7)
CALL = bytes.fromhex(
    "bf 10000000 be 03000000 ba 0f000000 4d31d2 4d31c0 4d31c9 b8 29000000 0f05"
    "83f8ff 7411 83f8da 740c bf 07000000 b8 3c000000 0f05"
)
# over the name; open for reading; if that works, read one byte; nothing or a folder goes on; exit(8)
FILE = bytes.fromhex(
    "eb0c 2f70726f632f6c6f636b7300 488d3d edffffff 31f6 31d2 b8 02000000 0f05 85c0 7829"
    "89c7 488d7424f0 ba 01000000 b8 00000000 0f05 83f800 7411 83f8eb 740c bf 08000000 b8 3c000000 0f05"
)


def test_every_instruction_is_as_an_assembler_writes_it() -> None:
    assert static_program(b"\x90\x90") == ELF + b"\x90\x90"
    assert probe._PAUSE == WAIT
    assert _try_call(Forbidden("socket", 41, (16, 3, 15)), 7) == CALL
    assert _try_file("/proc/locks", 8) == FILE


def test_all_attempts_follow_each_other_and_each_has_its_number() -> None:
    attempts = [
        _try_file(one.path, number) if one.path else _try_call(one, number)
        for number, one in zip(range(1, 24), FORBIDDEN, strict=True)
    ]
    assert trying_program() == b"".join(attempts)
