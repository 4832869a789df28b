"""What the engine is asked for when a kernel is opened, and what is left when it ends, fails or never listens."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from docker.errors import APIError

from harness.base.errors import EngineError, HarnessError
from harness.base.layout import Layout
from harness.data import load_manifest
from harness.engine import Engine
from harness.engine.facts import read_facts
from harness.execution.inputs import make_inputs
from harness.images.receipts import BuiltImage
from harness.methods.card import load_method
from harness.methods.weights import KeptWeights, WeightsManifest
from harness.notebook import NotebookImage, Opened, kernel, last_words, new_connection, open_kernel, pin
from harness.notebook.connection import socket_names
from harness.planning.jobs import PlannedJob, make_job
from harness.planning.plan import make_plan, pinned
from harness.splits.spec import SplitSpec

FACTS = read_facts(
    {"Version": "20.10"},
    {"Driver": "overlay2", "SecurityOptions": ["name=seccomp"], "CgroupVersion": "2"},
    api_version="1.41",
    socket="/run/engine.sock",
)
BELOW = BuiltImage(
    engine="docker", name="below:1", image_id="sha256:1", environment_tree="e", code_tree="c", size_bytes=1
)
IMAGE = NotebookImage("notebook:1", "sha256:2", BELOW, "_notebook_octave", "octave")


class Kernel:
    """An engine with one container, whose kernel listens as soon as it is started."""

    socket, facts = Path("/run/engine.sock"), FACTS

    def __init__(self) -> None:
        self.api = self
        self.calls: list[Any] = []
        self.configuration: dict[str, Any] = {}
        self.mounted: dict[str, dict[str, bytes]] = {}
        self.listens, self.said = True, b""
        # some clients hand the connection over as it is
        self.is_plain = False
        self.faults: dict[str, Exception] = {}
        self.ours, self.theirs = socket.socketpair()
        self.closed = 0
        self._listeners: list[socket.socket] = []

    def _call(self, *call: Any) -> None:
        self.calls.append(call)
        if fault := self.faults.get(call[0]):
            raise fault

    def create_container_from_config(self, configuration: dict[str, Any]) -> dict[str, str]:
        self._call("create")
        self.configuration = configuration
        return {"Id": "container-1"}

    def attach_socket(self, container: str, *, params: dict[str, int]) -> Any:
        self._call("attach", container, params)
        if self.is_plain:
            return self.ours
        return SimpleNamespace(_sock=self.ours, _response=self, close=self.close)

    def start(self, container: str) -> None:
        self._call("start", container)
        for target, source in self.folders.items():
            paths = [path for path in source.rglob("*") if path.is_file()]
            self.mounted[target] = {path.relative_to(source).as_posix(): path.read_bytes() for path in paths}
            assert all(path.stat().st_mode & 0o444 == 0o444 for path in paths)
            assert source.stat().st_mode & 0o555 == 0o555
        self.theirs.sendall(self.said)
        if self.listens:
            # the address of a socket must be short
            out = os.open(self.folders["/out"], os.O_PATH)
            for name in socket_names().values():
                self._listeners.append(socket.socket(socket.AF_UNIX))
                self._listeners[-1].bind(f"/proc/self/fd/{out}/{name}")
                self._listeners[-1].listen()
            os.close(out)
        else:
            self.theirs.close()

    def remove_container(self, container: str, **options: bool) -> None:
        self._call("remove", container, options)

    @property
    def folders(self) -> dict[str, Path]:
        """Target -> folder."""
        mounts = self.configuration["HostConfig"]["Mounts"]
        return {one["Target"]: Path(one["Source"]) for one in mounts if Path(one["Source"]).is_dir()}

    def close(self) -> None:
        self.closed += 1

    def end(self) -> None:
        for one in (self.ours, self.theirs, *self._listeners):
            one.close()


@pytest.fixture
def engine() -> Iterator[Kernel]:
    made = Kernel()
    yield made
    made.end()


@pytest.fixture
def planned(layout: Layout) -> PlannedJob:
    split = SplitSpec(strategy="random", seed=1)
    return pin(layout, make_job(load_method(layout, "constant"), load_manifest(layout, "synthetic"), split))


def opened(
    engine: Kernel, layout: Layout, planned: PlannedJob, look: Callable[[Opened], None], **choices: Any
) -> Opened:
    """Open the kernel, look at it, and close it."""

    async def run() -> Opened:
        connection = choices.pop("connection", None) or new_connection()
        async with open_kernel(cast(Engine, engine), layout, planned, IMAGE, connection, **choices) as one:
            look(one)
            # a task has to begin before it can be cancelled
            await asyncio.sleep(0)
        return one

    return asyncio.run(asyncio.wait_for(run(), 60))


def nothing(_one: Opened) -> None:
    """Nothing to look at."""


def left(layout: Layout) -> list[str]:
    """The folders of attempts that are still there."""
    folders = [path for path in (layout.local / "work").glob("*/*") if path.is_dir()]
    return sorted(path.name for path in folders)


def test_a_kernel_runs_as_a_run_does_with_a_little_more_room(
    engine: Kernel, layout: Layout, planned: PlannedJob
) -> None:
    card = load_method(layout, "constant")
    opened(engine, layout, planned, nothing)
    asked, host = engine.configuration, engine.configuration["HostConfig"]
    assert asked["Image"] == "sha256:2"
    assert asked["Entrypoint"] == ["/usr/bin/tini-static", "--", "python3", "/opt/notebook/start.py"]
    assert asked["Cmd"] == ["octave"]
    assert asked["Labels"]["permafrost.notebook"] == planned.key
    assert f"PERMAFROST_SEED={planned.job.fit_seed}" in asked["Env"]
    assert host["Memory"] == host["MemorySwap"] == card.resources.memory_bytes + (512 << 20)
    assert host["PidsLimit"] == card.resources.processes + 64
    # it ends with its client, and is gone then
    assert host["AutoRemove"] is True
    assert asked["AttachStdin"] is asked["OpenStdin"] is asked["StdinOnce"] is True
    writable = [one["Target"] for one in host["Mounts"] if not one["ReadOnly"]]
    assert writable == ["/out"] and set(engine.mounted) == {"/in", "/out", "/opt/notebook"}
    assert engine.calls == [
        ("create",),
        ("attach", "container-1", {"stream": 1, "stdin": 1, "stderr": 1, "logs": 0}),
        ("start", "container-1"),
        ("remove", "container-1", {"force": True, "v": True}),
    ]


def test_a_kernel_gets_the_jobs_inputs_and_its_side_of_the_connection(
    engine: Kernel, layout: Layout, planned: PlannedJob, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "model.bin").write_bytes(b"model")
    manifest = cast(WeightsManifest, SimpleNamespace(title="a model", revision="1"))
    weights = KeptWeights(manifest, tmp_path / "weights", {"model.bin": "f" * 64})
    asked: list[Any] = []

    def weights_of(*arguments: Any) -> Any:
        asked.append(arguments)
        return weights

    def inputs_of(*arguments: Any) -> Any:
        asked.append(arguments)
        return make_inputs(*arguments)

    monkeypatch.setattr(kernel, "planned_weights", weights_of)
    monkeypatch.setattr(kernel, "make_inputs", inputs_of)
    connection = new_connection()
    opened(engine, layout, planned, nothing, connection=connection, mirrors=[tmp_path])
    card = load_method(layout, "constant")
    assert asked == [(layout, planned), (layout, planned, card.inputs, [tmp_path])]
    given = engine.mounted["/in"]
    assert set(given) == {"associations.npy", "folds.npy", "job.json", "weights/model.bin"}
    job = json.loads(given["job.json"])
    assert (job["method"], job["seed"], job["weights"]) == ("constant", planned.job.fit_seed, weights.described())
    tools = engine.mounted["/opt/notebook"]
    assert set(tools) == {"start.py", "connection.json"}
    start = Path(kernel.__file__).parent / "inside" / "start.py"
    assert tools["start.py"] == start.read_bytes()
    assert json.loads(tools["connection.json"]) == connection.inside()


def test_an_open_kernel_can_be_reached_and_nothing_of_it_is_left(
    engine: Kernel, layout: Layout, planned: PlannedJob
) -> None:
    def look(one: Opened) -> None:
        assert not one.ended.done() and one.container == "container-1"
        assert stat.S_IMODE(one.file.stat().st_mode) == 0o600
        assert json.loads(one.file.read_text()) == one.connection.outside()
        assert all(port > 0 for port in one.connection.ports.values())
        with socket.create_connection(("127.0.0.1", one.connection.ports["control"])):
            pass
        assert len(left(layout)) == 3

    kernel = opened(engine, layout, planned, look)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", kernel.connection.ports["control"]))
    assert kernel.ended.cancelled() and left(layout) == []
    # the stream, and both layers of the client that held it
    assert engine.ours.fileno() == -1 and engine.closed == 2


def test_a_connection_that_no_client_wraps_is_read_and_closed(
    engine: Kernel, layout: Layout, planned: PlannedJob
) -> None:
    engine.is_plain = True
    one = opened(engine, layout, planned, nothing)
    assert one.ended.cancelled() and engine.ours.fileno() == -1 and left(layout) == []


def test_an_ordinary_users_kernel_runs_as_that_user(
    engine: Kernel, layout: Layout, planned: PlannedJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    monkeypatch.setattr(os, "getegid", lambda: 5678)
    opened(engine, layout, planned, nothing)
    assert engine.configuration["User"] == "1234:5678"


def frame(text: bytes) -> bytes:
    """Output as an engine sends it."""
    return struct.pack(">BxxxL", 2, len(text)) + text


@pytest.mark.parametrize(
    ("said", "words"),
    [(frame(b"ValueError: no\n") + frame(b"good-bye\n"), "ValueError: no\ngood-bye"), (b"", "(nothing)")],
)
def test_a_kernel_that_ends_at_once_has_its_last_words(
    engine: Kernel, layout: Layout, planned: PlannedJob, said: bytes, words: str
) -> None:
    engine.listens, engine.said = False, said
    with pytest.raises(HarnessError) as fault:
        opened(engine, layout, planned, nothing)
    assert fault.value.what == f"the kernel ended before it listened; it said:\n{words}"
    assert fault.value.where == "inside the method's container"
    assert fault.value.todo == ("its last lines say why; whether the method itself works, `harness run` shows")
    assert engine.calls[-1][0] == "remove" and left(layout) == []


def test_a_kernel_that_never_listens_is_waited_for_two_minutes(
    engine: Kernel, layout: Layout, planned: PlannedJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def find(folder: Path) -> None:
        looks.append(folder)

    monkeypatch.setattr(kernel, "find_sockets", find)
    clock = SimpleNamespace(monotonic=iter([1000.0, 1119.0, 1120.0, 1120.5]).__next__)
    monkeypatch.setattr(kernel, "time", clock)
    with pytest.raises(HarnessError, match=r"^the kernel does not listen after 120 s; it said:\n\(nothing\)"):
        opened(engine, layout, planned, nothing)
    assert [folder.name for folder in looks] == ["out"] * 3


@pytest.mark.parametrize("call", ["create", "attach", "start"])
def test_an_engine_that_fails_is_named_and_keeps_nothing(
    engine: Kernel, layout: Layout, planned: PlannedJob, call: str
) -> None:
    engine.faults[call] = APIError("500", explanation="no room left")
    # that it can't be removed either is no other fault
    engine.faults["remove"] = ConnectionResetError()
    with pytest.raises(EngineError) as fault:
        opened(engine, layout, planned, nothing)
    assert fault.value.what == "the engine can't start the kernel's container: no room left"
    assert (fault.value.where, fault.value.todo) == ("/run/engine.sock", "run `harness doctor`")
    assert [one[0] for one in engine.calls[-1:]] == (["create"] if call == "create" else ["remove"])
    assert engine.closed == (2 if call == "start" else 0) and left(layout) == []


def test_a_kernels_log_is_bounded_and_its_end_is_told(
    engine: Kernel, layout: Layout, planned: PlannedJob, tmp_path: Path
) -> None:
    async def run() -> None:
        engine.ours.setblocking(False)
        engine.theirs.setblocking(False)
        listening = asyncio.create_task(kernel._listen(engine.ours, tmp_path / "log.txt"))
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(engine.theirs, b"".join(frame(b"x" * (1 << 18)) for _ in range(6)))
        await loop.sock_sendall(engine.theirs, frame(b"\xff the end \n"))
        engine.theirs.close()
        await listening

    asyncio.run(asyncio.wait_for(run(), 60))
    size = (tmp_path / "log.txt").stat().st_size
    assert 1 << 20 <= size < (1 << 20) + 100
    words = last_words(tmp_path / "log.txt")
    first, _, words = words.partition("\n")
    assert first == f"[the last 2,000 of {size:,} bytes]"
    assert words.endswith("x\ufffd the end") and 1980 < len(words) <= 2000
    (tmp_path / "log.txt").write_bytes(b" short\x1b[2J\x1b]0;title\x07 \n")
    assert last_words(tmp_path / "log.txt") == "short]0;title"


def test_what_runs_a_kernel_ends_when_the_harness_lets_go_of_it_and_not_before() -> None:
    start = Path(kernel.__file__).parent / "inside" / "start.py"
    program = (
        "import sys, threading, time\n"
        "names = {'__file__': sys.argv[1]}\n"
        "exec(open(sys.argv[1]).read().removesuffix('main()\\n'), names)\n"
        "threading.Thread(target=names['_end_with_harness'], daemon=True).start()\n"
        "print('serving', flush=True)\n"
        "time.sleep(300)\n"
    )
    command = [sys.executable, "-c", program, str(start)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        try:
            assert process.stdout is not None and process.stdin is not None
            assert process.stdout.readline() == b"serving\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)
            process.stdin.close()
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_a_job_is_pinned_as_in_a_plan(
    layout: Layout, planned: PlannedJob, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (cell,) = make_plan(layout, "any", [planned.job]).cells
    assert planned == pinned(cell)
    asked = []

    def plan(*arguments: Any, **options: Any) -> Any:
        asked.append((arguments[0], arguments[2:], options))
        return make_plan(*arguments, **options)

    monkeypatch.setattr(kernel, "make_plan", plan)
    assert pin(layout, planned.job, [tmp_path]) == planned
    assert asked == [(layout, ([planned.job],), {"mirrors": [tmp_path]})]
