"""A person who waits is told what is done, in few words, once, and where they look."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from harness.base.heartbeat import PERIOD_S, PULSE, Pulse, heartbeat
from harness.base.progress import ProgressBar, ProgressLines, progress_for


class Flushed(io.StringIO):
    """A stream that shows only what was flushed."""

    shown = ""

    def flush(self) -> None:
        self.shown = self.getvalue()


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self) -> bool:
        return True


@contextmanager
def doing(pulse: Pulse, what: str) -> Iterator[None]:
    """Another thread that is at something."""
    began, ended = threading.Event(), threading.Event()

    def work() -> None:
        with pulse.activity("waiting for work"), pulse.activity(what):
            began.set()
            ended.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    assert began.wait(10)
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize(
    ("workers", "told"),
    [
        (0, "the command (0 s)"),
        (1, "a (0 s)"),
        (3, "a (0 s); b (0 s); c (0 s)"),
        (4, "a (0 s); b (0 s); c (0 s) and 1 more"),
        (5, "a (0 s); b (0 s); c (0 s) and 2 more"),
    ],
)
def test_of_many_things_at_once_three_are_told(workers: int, told: str) -> None:
    pulse, said = Pulse(lambda: 5.0), list[str]()
    with ExitStack() as stack:
        stack.enter_context(pulse.speaker(said.append))
        stack.enter_context(pulse.activity("the command"))
        for what in "abcde"[:workers]:
            stack.enter_context(doing(pulse, what))
        pulse.beat(0)
    assert said == [told]


@pytest.mark.parametrize(("part", "told"), [("", "a split (0 s)"), ("2 of 7,081", "2 of 7,081: a split (0 s)")])
def test_which_part_of_a_longer_work_it_is_stands_before_what_is_done_in_it(part: str, told: str) -> None:
    pulse, said = Pulse(lambda: 5.0), list[str]()
    with pulse.speaker(said.append), pulse.activity("the command"), pulse.activity("an audit", part=part):
        with pulse.activity("a split"):
            pulse.beat(0)
        pulse.beat(0)
    assert said == [told, told.replace("a split", "an audit")]


def test_the_command_is_told_too_where_it_does_more_than_one_thing() -> None:
    pulse, said = Pulse(lambda: 5.0), list[str]()
    with pulse.speaker(said.append), pulse.activity("the command"), pulse.activity("a part"), doing(pulse, "b"):
        pulse.beat(0)
    assert said == ["a part (0 s); b (0 s)"]


def test_silence_lasts_until_the_last_question_is_answered() -> None:
    now, said = [0.0], list[str]()
    pulse = Pulse(lambda: now[0])
    with pulse.speaker(said.append), pulse.activity("the command"):
        with pytest.raises(KeyError), pulse.silence(), pulse.silence():
            raise KeyError
        now[0] = PERIOD_S - 1
        assert pulse.beat() == 1.0 and said == []
        now[0] = 10.0
        with pulse.silence():
            with pulse.silence():
                pass
            now[0] = 20.0
            pulse.beat()
        assert said == []
        now[0] = 30.0
        assert pulse.beat() == PERIOD_S == 10.0 and len(said) == 1


def test_who_spoke_before_speaks_again_also_after_a_fault() -> None:
    pulse = Pulse()
    before = pulse.say
    with pytest.raises(KeyError), pulse.speaker(list[str]().append):
        assert pulse.say != before
        raise KeyError
    assert pulse.say == before


def test_a_sign_of_life_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Flushed()
    monkeypatch.setattr(sys, "stderr", stream)
    Pulse().say("reading")
    assert stream.shown == "at work: reading\n"


def test_a_command_that_has_just_begun_says_nothing() -> None:
    now, said = [0.0], list[str]()
    pulse = Pulse(lambda: now[0])
    now[0] = 1000.0
    with pulse.speaker(said.append), heartbeat("the command", period=0.01, pulse=pulse):
        assert {("heartbeat", True)} <= {(one.name, one.daemon) for one in threading.enumerate()}
        time.sleep(0.05)
        assert said == []
    assert "heartbeat" not in {one.name for one in threading.enumerate()}


def test_a_line_of_progress_is_shown_at_once_and_counts_as_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Flushed()
    monkeypatch.setattr(PULSE, "_clock", lambda: 77.0)
    monkeypatch.setattr(PULSE, "_heard", 1e9)
    monkeypatch.setattr(sys, "stderr", stream)
    lines = ProgressLines()
    lines.begin("title", 2)
    assert stream.shown.endswith("title\n")
    lines.note("noted")
    assert stream.shown.endswith("  noted\n")
    lines.step("done")
    assert stream.shown.endswith("] done\n")
    assert PULSE.beat(10) == 10, "heard at 77"


def test_a_bar_shows_what_is_being_done_and_leaves_texts_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    before = PULSE.say
    with progress_for() as bar:
        assert isinstance(bar, ProgressBar) and PULSE.say == bar.live
        # nothing to stand beside yet
        bar.live("too early")
        bar.begin("title", 3)
        bar.live("[i]reading[/i]")
        (task,) = bar._bar.tasks
        assert task.fields == {"activity": "[i]reading[/i]"}
        bar.step("1 of 3 [b]steps[/b]")
        bar.note("2.5 [b]GB[/b]")
        bar.begin("next", 5)
        (task,) = bar._bar.tasks
        assert (task.description, task.completed, task.total, task.fields) == ("next", 0, 5, {"activity": ""})
        bar._bar.refresh()
    assert PULSE.say == before
    written = terminal.getvalue()
    assert "  1 of 3 [b]steps[/b]\n" in written and "  2.5 [b]GB[/b]\n" in written
    assert "next" in written and "0/5" in written and "0:00:0" in written
    # the bar itself is gone at the end
    assert written.rstrip("\r\n").endswith("\x1b[2K")
