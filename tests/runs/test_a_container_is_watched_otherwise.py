"""When the loop beside a container looks at it, for how long it sleeps and what ends it, by a clock of its own."""

from __future__ import annotations

import selectors
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.cgroup import Shortage, Usage
from harness.execution.runs import watch
from harness.execution.runs.classify import Stop
from harness.execution.runs.log import BoundedLog
from harness.execution.runs.request import Limits
from harness.execution.runs.user import ContainerUser
from harness.execution.runs.watch import Running, Watched
from harness.execution.runs.workspace import new_workspace

# no descriptor of the process that tests has such a number
EVENTS, PROCESS, STREAM = 1_000_001, 1_000_002, 1_000_003
WAKE = "wake"


class Stage:
    """A container, its engine, what the kernel says of it, and a selector by whose sleep alone time passes."""

    socket_timeout: float | None = None

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.wake = 0.0, -1
        self.looks, self.pauses, self.sent = list[float](), list[float](), list[str]()
        self.handles, self.log_pieces = list[int](), list[bytes | Exception]()
        # what was listened to until the end
        self.left = set[int]()
        self.signals = 0
        # by number of the sleep: what is ready when it ends
        self.ready: dict[int, list[Any]] = {}
        self.last = 40
        # by number of the sleep: for how long it sleeps, where something wakes it
        self.shorter: dict[int, float] = {}
        self.ends_at = self.lost_at = float("inf")
        self.answer, self.may_answer = 0, threading.Event()
        self.stop = threading.Event()
        self.each: Callable[[], object] = lambda: None
        self.workspace = new_workspace(folder, ContainerUser(65534, 65534, own=False))
        self.log_file = folder / "log"
        self.events = EVENTS
        monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=lambda: self.now))
        chosen = SimpleNamespace(DefaultSelector=lambda: self, EVENT_READ=selectors.EVENT_READ)
        monkeypatch.setattr(watch, "selectors", chosen)

    # the engine's client

    def wait(self, container: str, timeout: None) -> dict[str, int]:
        self.may_answer.wait(30)
        return {"StatusCode": self.answer}

    def kill(self, container: str, name: str) -> None:
        self.sent.append(name)

    # the control group and the processes

    usage = Usage(peak_bytes=7)

    def read(self) -> None:
        self.looks.append(round(self.now, 6))

    def read_at_end(self) -> None:
        self.looks.append(-1.0)

    def take_signal(self) -> None:
        self.signals += 1

    def is_frozen(self) -> bool:
        return False

    def processes(self) -> Iterator[int]:
        return iter(())

    def shortage(self) -> Shortage:
        return Shortage.NONE

    def ended(self) -> bool:
        return self.now >= self.ends_at

    def monitor_lost(self) -> bool:
        return self.now >= self.lost_at

    # the selector

    def register(self, handle: Any, events: int) -> None:
        number = handle if isinstance(handle, int) else handle.fileno()
        if number < EVENTS:
            self.wake = number
        assert number not in self.handles
        self.handles.append(number)

    def unregister(self, handle: Any) -> None:
        self.handles.remove(handle if isinstance(handle, int) else handle.fileno())

    def select(self, timeout: float) -> list[tuple[Any, int]]:
        self.pauses.append(round(timeout, 6))
        self.now += self.shorter.get(len(self.pauses), timeout)
        self.each()
        ready = self.ready.get(len(self.pauses), [WAKE] if len(self.pauses) >= self.last else [])
        numbers = [self.wake if one == WAKE else one for one in ready]
        assert set(numbers) <= set(self.handles), "what is not listened to is never ready"
        return [(SimpleNamespace(fd=number), 1) for number in numbers]

    def close(self) -> None:
        self.left, self.handles = set(self.handles), []

    # the stream of output

    def fileno(self) -> int:
        return STREAM

    def recv(self, most: int) -> bytes:
        piece = self.log_pieces.pop(0) if self.log_pieces else b""
        if isinstance(piece, Exception):
            raise piece
        return piece

    def settimeout(self, seconds: float) -> None:
        self.socket_timeout = seconds

    def watched(self, **limits: float) -> Watched:
        bounds: dict[str, Any] = {"seconds": 100.0, "memory_bytes": 1, "grace_seconds": 5.0, **limits}
        this: Any = self
        processes: Any = SimpleNamespace(
            handles=(PROCESS,), ended=self.ended, monitor_lost=self.monitor_lost, close=lambda: None
        )
        running = Running(this, "docker", "abc", this, this, processes, 0.0)
        with BoundedLog(self.log_file, 1000) as log:
            return watch.watch(running, limits=Limits(**bounds), workspace=self.workspace, log=log, stop=self.stop)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(tmp_path, monkeypatch)
    yield made
    made.may_answer.set()


def rarely(count: int, began: float = 0.0) -> list[float]:
    """Looks that are half as rare again each time, and never further apart than a quarter of a second."""
    times, tick = [began], 0.02
    while len(times) < count:
        tick = min(1.5 * tick, 0.25)
        times.append(times[-1] + tick)
    return [round(one, 6) for one in times]


def test_a_container_is_looked_at_more_and_more_rarely(stage: Stage) -> None:
    stage.watched()
    assert stage.looks == rarely(40) and stage.looks[1] == 0.03 and stage.looks[-1] - stage.looks[-2] == 0.25
    assert all(one > 0 for one in stage.pauses), "it sleeps meanwhile"
    assert not stage.handles and not stage.sent


@pytest.mark.parametrize(("asleep", "look"), [(0.01, 0.02), (0.1, 0.1)])
def test_a_lack_of_memory_is_looked_at_at_once_but_not_all_the_time(
    stage: Stage, asleep: float, look: float
) -> None:
    stage.ready[12], stage.shorter[12] = [EVENTS], asleep
    stage.watched()
    soon = rarely(4, rarely(12)[-1] + look)
    assert stage.looks[:16] == pytest.approx([*rarely(12), *soon], abs=1e-5)
    assert stage.signals == 2, "when it was told, and once more at the end"


@pytest.mark.parametrize(("seconds", "grace"), [(1.0, 5.0), (2.5, 0.5)])
def test_a_limit_and_a_grace_are_met_to_the_moment(stage: Stage, seconds: float, grace: float) -> None:
    stage.last = 400
    ending = stage.watched(seconds=seconds, grace_seconds=grace)
    assert seconds in stage.looks and seconds + grace in stage.looks
    assert stage.sent == ["SIGTERM", "SIGKILL"] and ending.stopped is Stop.TIMEOUT
    # half a minute for an engine to show that it can kill
    assert ending.engine_fault == "the engine did not stop the container"
    assert stage.now == pytest.approx(seconds + grace + 30.0, abs=0.26)


def test_what_its_processes_hold_open_counts_while_it_runs(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no folder shows it any more."""

    def output_fault(_workspace: object, _limits: object, processes: Iterable[int] = ()) -> str:
        return "too much in deleted files" if [*processes] == [7, 9] else ""

    monkeypatch.setattr(watch, "output_fault", output_fault)
    monkeypatch.setattr(Stage, "processes", lambda _: iter((7, 9)))
    ending = stage.watched()
    assert (ending.stopped, ending.stop_detail) == (Stop.OUTPUT, "too much in deleted files")
    assert stage.sent == ["SIGKILL"], "who goes on writing is not asked politely"


@pytest.mark.parametrize(("stops", "patience"), [(False, 30.0), (True, 5.0)])
def test_an_engine_that_says_nothing_of_an_end_is_given_up(stage: Stage, stops: bool, patience: float) -> None:
    stage.ends_at, stage.last = 0.5, 400
    if stops:
        stage.each = lambda: stage.stop.set() if stage.now >= 0.5 else None
    ending = stage.watched()
    assert ending.engine_fault == "the container has ended, but the engine does not say how"
    looks = [one for one in rarely(20) if one < 0.5]
    seen = rarely(20)[len(looks)]
    assert stage.looks == [*looks, -1.0], "it is read once more, and nothing is looked at any more"
    assert ending.lived_s == pytest.approx(seen) and ending.exit_code is None
    assert set(stage.pauses[len(looks) :]) == {0.25}
    assert stage.now == pytest.approx(seen + patience, abs=0.26) and stage.now >= seen + patience - 1e-6
    assert ending.stopped is (Stop.INTERRUPT if stops else None)


def test_an_end_that_the_engine_tells_ends_it_with_its_code(stage: Stage) -> None:
    stage.answer, stage.ends_at, stage.ready = 3, 0.2, {8: [PROCESS], 9: [WAKE]}
    stage.may_answer.set()

    def each() -> None:
        for thread in threading.enumerate():
            if thread.name == "wait-abc":
                thread.join(30)

    stage.each = each
    ending = stage.watched()
    assert (ending.exit_code, ending.engine_fault, ending.stopped, ending.usage) == (3, "", None, stage.usage)
    assert PROCESS not in stage.left, "a process that has ended would wake the loop without an end"
    assert ending.shortage is Shortage.NONE and ending.paused_s == 0.0 and stage.socket_timeout == 5.0


def test_output_is_taken_until_its_end_and_no_further(stage: Stage) -> None:
    stage.log_pieces = [struct.pack(">BxxxL", 1, 5) + b"hello"]
    stage.ready = {3: [STREAM], 4: [STREAM]}
    stage.watched()
    assert stage.log_file.read_bytes() == b"hello" and stage.socket_timeout is None and STREAM not in stage.left


@pytest.mark.parametrize("fault", [ConnectionResetError(), TimeoutError(), OSError(5, "Input/output error")])
@pytest.mark.parametrize("ready", [{}, {3: [STREAM], 4: [STREAM]}])
def test_a_stream_that_breaks_off_ends_the_log_and_not_the_run(
    stage: Stage, fault: Exception, ready: dict[int, list[Any]]
) -> None:
    # and of what arrives at once every part is taken
    stage.log_pieces = [struct.pack(">BxxxL", 1, 5) + b"hello" + struct.pack(">BxxxL", 2, 4) + b" all", fault]
    stage.ready = ready
    ending = stage.watched()
    assert stage.log_file.read_bytes() == b"hello all" and ending.engine_fault.startswith("the engine")


def test_what_is_left_of_the_output_is_taken_at_the_end(stage: Stage) -> None:
    stage.log_pieces = [struct.pack(">BxxxL", 1, 5) + b"hel", b"lo"]
    stage.watched()
    assert stage.log_file.read_bytes() == b"hello" and stage.socket_timeout == 5.0


def test_a_monitor_that_is_lost_is_told_before_all_else(stage: Stage) -> None:
    stage.lost_at = 0.1
    ending = stage.watched()
    assert ending.engine_fault == "the process by which the engine watches the container was killed"


def test_an_engine_that_is_lost_as_somebody_stops_is_lost_all_the_same(stage: Stage) -> None:
    stage.ready, stage.each = {1: [WAKE]}, stage.stop.set
    ending = stage.watched()
    assert (ending.engine_fault, ending.stopped) == ("the engine was lost during the run: ", None)
