"""A command that is at work says so at least every ten seconds: what it does, and how long that took before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
import pytest

from harness.base import heartbeat, progress
from harness.base.heartbeat import PERIOD_S, Pulse, duration
from harness.base.layout import Layout
from harness.cli import main
from harness.cli.options import OnceCommand
from tests.cli.test_an_option_is_dropped import COMMANDS


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def pulse(clock: _Clock) -> Pulse:
    pulse = Pulse(clock)
    pulse.said = []  # type: ignore[attr-defined]
    pulse.say = pulse.said.append  # type: ignore[attr-defined]
    return pulse


def said(pulse: Pulse) -> list[str]:
    lines: list[str] = pulse.said  # type: ignore[attr-defined]
    return lines


def test_ten_seconds_of_silence_are_the_most(pulse: Pulse, clock: _Clock) -> None:
    assert PERIOD_S == 10
    with pulse.activity("harness status"):
        assert pulse.beat() == 10 and said(pulse) == []
        clock.now += 9
        assert pulse.beat() == 1 and said(pulse) == []
        clock.now += 1
        assert pulse.beat() == 10
        assert said(pulse) == ["harness status (10 s)"]
        clock.now += 4
        pulse.heard()
        clock.now += 6
        assert pulse.beat() == 4 and len(said(pulse)) == 1
        clock.now += 180
        pulse.beat()
    assert said(pulse)[1:] == ["harness status (3 min 20 s)"]
    clock.now += 60
    pulse.beat()
    assert len(said(pulse)) == 2


def test_the_innermost_work_is_told_with_what_it_took_before(pulse: Pulse, clock: _Clock) -> None:
    with pulse.activity("harness run"), pulse.activity("run bnnr on fdataset", 300):
        clock.now += 120
        pulse.beat()
        with pulse.activity("converting dataset fdataset"):
            clock.now += 11
            pulse.beat()
        clock.now += 11
        pulse.beat()
    assert said(pulse) == [
        "run bnnr on fdataset (2 min 0 s, expected: 5 min)",
        "converting dataset fdataset (11 s)",
        "run bnnr on fdataset (2 min 22 s, expected: 5 min)",
    ]


@contextmanager
def _elsewhere(pulse: Pulse, *works: str) -> Iterator[None]:
    """Each of these is being done by a thread of its own."""
    ended, begun = threading.Event(), threading.Barrier(len(works) + 1)

    def work(what: str) -> None:
        with pulse.activity(what):
            begun.wait()
            ended.wait()

    threads = [threading.Thread(target=work, args=(what,)) for what in works]
    for thread in threads:
        thread.start()
        time.sleep(0.01)
    begun.wait()
    yield
    ended.set()
    for thread in threads:
        thread.join()


def test_works_of_several_threads_are_told_together(pulse: Pulse, clock: _Clock) -> None:
    with pulse.activity("harness run"):
        with _elsewhere(pulse, "a", "b"):
            clock.now += 10
            pulse.beat()
        with _elsewhere(pulse, "a", "b", "c", "d", "e"):
            clock.now += 10
            pulse.beat()
    assert said(pulse) == ["a (10 s); b (10 s)", "a (10 s); b (10 s); c (10 s) and 2 more"]


def test_nothing_is_said_to_a_person_who_is_asked(pulse: Pulse, clock: _Clock) -> None:
    with pulse.activity("harness forget"):
        with pulse.silence():
            clock.now += 60
            assert pulse.beat() == 10
        clock.now += 9
        assert pulse.beat() == 1
    assert said(pulse) == []


def test_a_failure_ends_what_was_being_done(pulse: Pulse, clock: _Clock) -> None:
    with pytest.raises(KeyError), pulse.activity("x"):
        raise KeyError
    clock.now += 20
    pulse.beat()
    assert said(pulse) == []


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (99, "99 s"), (100, "2 min"), (5399, "90 min"), (5400, "1.5 h")]
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_lines_of_progress_count_as_a_sign(monkeypatch: pytest.MonkeyPatch, pulse: Pulse, clock: _Clock) -> None:
    monkeypatch.setattr(progress, "PULSE", pulse)
    clock.now += 8
    progress.ProgressLines().note("x")
    assert pulse.beat() == 10


def test_a_bar_shows_the_work_beside_it(monkeypatch: pytest.MonkeyPatch, pulse: Pulse, clock: _Clock) -> None:
    monkeypatch.setattr(progress, "PULSE", pulse)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    before = pulse.say
    with progress.progress_for("auto") as bar, pulse.activity("run x"):
        bar.begin("runs", 2)
        clock.now += 10
        pulse.beat()
        assert isinstance(bar, progress.ProgressBar)
        (task,) = bar._bar.tasks
        assert task.fields["activity"] == "run x (10 s)"
    assert pulse.say == before and said(pulse) == []


def test_every_command_has_it() -> None:
    """It is in the class that all commands have: none can be forgotten."""
    assert len(COMMANDS) > 40
    for command in COMMANDS.values():
        assert type(command).invoke is OnceCommand.invoke


def test_the_whole_plan_is_announced_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No terminal reads it: a person who looks at a log waits as long."""
    heard = list[str]()

    def planned(**_: object) -> None:
        heard.append(capsys.readouterr().err)
        sys.exit(7)

    monkeypatch.setattr("harness.api.plan", planned)
    for options in (["--suite", "full"], ["--suite", "smoke", "--reference"], ["--suite", "smoke"]):
        with pytest.raises(SystemExit) as ended:
            main(["status", *options])
        assert ended.value.code == 7
    assert heard == ["planning\n", "planning\n", ""]


def test_a_silent_command_is_heard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    @click.command(cls=OnceCommand)
    def slow() -> None:
        time.sleep(0.5)

    monkeypatch.setattr(heartbeat, "PULSE", Pulse())
    monkeypatch.setattr("harness.cli.options.heartbeat", _every(0.1))
    slow.main([], prog_name="harness slow", standalone_mode=False)
    shown = capsys.readouterr()
    assert shown.out == "" and 2 <= shown.err.count("at work: harness slow (0 s)\n") <= 5
    time.sleep(0.3)
    assert capsys.readouterr().err == "" and "heartbeat" not in {one.name for one in threading.enumerate()}


def _every(period: float) -> Callable[[str], object]:
    return lambda what: heartbeat.heartbeat(what, period=period, pulse=heartbeat.PULSE)


def test_json_is_not_disturbed(layout: Layout) -> None:
    program = (
        "import harness.cli.options as options\n"
        "from functools import partial\n"
        "options.heartbeat = partial(options.heartbeat, period=0.01)\n"
        "from harness.cli import main\n"
        "main(['status', '--json'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PERMAFROST_RESULTS": str(layout.local)},
        check=False,
    )
    assert json.loads(done.stdout)["command"] == "status"
    assert "at work: " in done.stderr
