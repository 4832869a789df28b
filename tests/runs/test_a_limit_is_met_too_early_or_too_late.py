"""When a container is told to stop, by a clock of the test's own."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.execution.runs import watch
from harness.execution.runs.classify import Stop
from harness.execution.runs.request import Limits
from harness.execution.runs.user import ContainerUser
from harness.execution.runs.watch import Running, _End, _Stopper
from harness.execution.runs.workspace import Workspace, new_workspace

LIMITS = Limits(seconds=100.0, memory_bytes=1, grace_seconds=5.0)


class Stage:
    """A stopper whose clock begins at 1000, and the signals it sent."""

    def __init__(self, workspace: Workspace) -> None:
        self.sent: list[str] = []
        self.wish = threading.Event()
        api: Any = SimpleNamespace(kill=lambda container, name: self.sent.append(name))
        nothing: Any = None
        group: Any = SimpleNamespace(processes=list)
        self.stopper = _Stopper(Running(api, "docker", "abc", nothing, group, nothing, 1000.0), LIMITS)
        self.workspace = workspace

    def look(self, now: float, *, frozen: bool = False) -> Stop | None:
        self.stopper.look(now, self.workspace, self.wish, frozen=frozen)
        return self.stopper.reason


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(new_workspace(tmp_path, ContainerUser(1_900_000_001, 1_900_000_001, own=True)))


def test_the_limit_and_the_grace(stage: Stage) -> None:
    assert stage.stopper.next_step() == 1100.0 and stage.look(1099.9) is None and not stage.sent
    assert stage.look(1100.0) is Stop.TIMEOUT and stage.sent == ["SIGTERM"]
    assert stage.stopper.detail == "stopped at its time limit of 100 s" and stage.stopper.next_step() == 1105.0
    stage.look(1104.9)
    assert stage.sent == ["SIGTERM"]
    stage.look(1105.0)
    assert stage.sent == ["SIGTERM", "SIGKILL"] and stage.stopper.next_step() == 1105.0 + watch._PATIENCE
    stage.look(1120.0)
    assert stage.sent == ["SIGTERM", "SIGKILL"], "once is enough"
    assert not stage.stopper.overdue(1134.9)
    assert stage.stopper.overdue(1135.0) == "the engine did not stop the container"


def test_a_pause_moves_the_limit_by_its_length(stage: Stage) -> None:
    assert stage.look(1010.0) is None
    assert stage.look(1030.0, frozen=True) is None and stage.stopper.paused_s == 20.0
    assert stage.look(1040.0) is None and stage.stopper.next_step() == 1120.0
    assert stage.look(1119.9) is None and stage.look(1120.0) is Stop.TIMEOUT
    assert stage.stopper.paused_s == 20.0


def test_a_pause_at_the_limit_is_no_timeout(stage: Stage) -> None:
    stage.look(1050.0)
    assert stage.look(1101.0, frozen=True) is None and stage.stopper.next_step() == 1151.0


def test_pauses_have_an_end(stage: Stage) -> None:
    assert stage.look(1000.0 + watch._LONGEST_PAUSE, frozen=True) is None
    assert stage.look(1000.1 + watch._LONGEST_PAUSE, frozen=True) is Stop.PAUSED
    assert stage.sent == ["SIGKILL"] and stage.stopper.detail == "somebody has paused the container for 3600 s"
    assert stage.stopper.overdue(1000.1 + watch._LONGEST_PAUSE + watch._PATIENCE)


def test_the_users_wish_comes_first_and_is_polite(stage: Stage) -> None:
    stage.wish.set()
    assert stage.look(1200.0) is Stop.INTERRUPT and stage.sent == ["SIGTERM"]


def test_too_much_output_is_not_asked_politely(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "output_fault", lambda workspace, limits, processes: "too much")
    assert stage.look(1001.0) is Stop.OUTPUT and stage.sent == ["SIGKILL"] and stage.stopper.detail == "too much"
    assert stage.stopper.next_step() == 1001.0 + watch._PATIENCE


def test_a_full_disk_comes_after_too_much_output(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "disk_fault", lambda workspace: "full")
    assert stage.look(1001.0) is None, "the run that filled it is stopped first"
    assert stage.look(1001.0 + watch._DISK_PATIENCE) is Stop.DISK and stage.sent == ["SIGKILL"]


def test_a_disk_may_be_full_for_two_seconds_at_a_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = ["full"]
    monkeypatch.setattr(watch, "disk_fault", lambda workspace: faults[0])
    assert stage.look(1001.0) is None and stage.look(1002.9) is None
    faults[0] = ""
    assert stage.look(1002.95) is None, "another run was stopped, and there is room again"
    faults[0] = "full once more"
    assert stage.look(1003.0) is None and stage.look(1004.9) is None
    assert stage.look(1005.0) is Stop.DISK and stage.stopper.detail == "full once more"
    assert stage.sent == ["SIGKILL"] and stage.stopper.next_step() == 1035.0


def test_a_lost_engine_is_the_waiters_to_tell(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(container: str, name: str) -> None:
        raise OSError("gone")

    monkeypatch.setattr(stage.stopper._api, "kill", refuse)
    assert stage.look(1100.0) is Stop.TIMEOUT


class Seen:
    """A container's processes and its control group: what the kernel says next."""

    def __init__(self) -> None:
        self.is_over = self.is_lost = False
        self.readings = 0

    def ended(self) -> bool:
        return self.is_over

    def monitor_lost(self) -> bool:
        return self.is_lost

    def read_at_end(self) -> None:
        self.readings += 1


def end_of(seen: Any, monkeypatch: pytest.MonkeyPatch, now: list[float]) -> _End:
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=lambda: now[0]))
    nothing: Any = None
    return _End(Running(nothing, "docker", "abc", nothing, seen, seen, 1000.0))


def test_the_end_is_noticed_once_and_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, now = Seen(), [1010.0]
    end = end_of(seen, monkeypatch, now)
    end.look()
    assert not any((end.at, end.lived_s, end.overdue(1e9, 30.0)))
    seen.is_over = True
    end.look()
    now[0] = 1020.0
    end.look()
    assert [end.at, end.lived_s, seen.readings, end.lost] == [1010.0, 10.0, 1, False]
    assert not end.overdue(1039.9, 30.0)
    assert end.overdue(1040.0, 30.0) == "the container has ended, but the engine does not say how"


def test_a_lost_monitor_begins_the_wait_and_the_container_may_live_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, now = Seen(), [1010.0]
    end = end_of(seen, monkeypatch, now)
    seen.is_lost = True
    end.look()
    assert (end.at, end.lived_s, end.lost) == (1010.0, None, True)
    now[0], seen.is_over = 1015.0, True
    end.look()
    assert (end.at, end.lived_s, end.lost) == (1010.0, 15.0, True)
