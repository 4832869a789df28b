"""How often a campaign tells of itself and listens, and who is told what when one is to end, word for word."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.base.vocabulary import Verdict
from harness.execution import bulletins as module
from harness.execution.bulletins import Bulletin, IllWorker, Tally, Wish, ask_to_end, bulletins, telling
from harness.execution.desk import Counts
from harness.execution.errands import Course
from tests.campaigns.test_a_campaign_is_not_told import BULLETIN
from tests.core.word_for_word import said


class Clock:
    """In the place of time and threads: the teller runs at once, and its waiting alone lets time pass."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = self
        self.now, self.last = 1000.0, 1008.2
        self.waits, self.told = list[float | None](), list[tuple[float, dict[str, Any]]]()
        self.threads = list[Any]()
        self.each: Callable[[], object] = lambda: None
        self.error: OSError | None = None

        class Over(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                clock.waits.append(timeout)
                clock.now += timeout or 0.0
                clock.each()
                return clock.now > clock.last

        class Thread:
            def __init__(self, *, target: Callable[[], None], name: str, daemon: bool) -> None:
                clock.threads.append((name, daemon))
                self.start = target

            def join(self) -> None:
                clock.threads.append("joined")

        def write(path: Path, text: str) -> None:
            clock.told.append((clock.now, json.loads(text)))
            if clock.error:
                raise clock.error
            write_atomic(path, text)

        monkeypatch.setattr(module, "threading", SimpleNamespace(Event=Over, Thread=Thread, Lock=threading.Lock))
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(module, "write_atomic", write)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def tell(layout: Layout) -> tuple[bool, bool]:
    """Whether it heard that it is enough, or that it is to stop."""
    enough, stop = threading.Event(), threading.Event()
    with telling(layout, Tally(), plan="made up", on="local", enough=enough, stop=stop):
        pass
    return enough.is_set(), stop.is_set()


def wish_of(layout: Layout) -> Path:
    (file,) = (layout.local / "work").glob("*/campaign-*.json")
    return file.with_suffix(".wish")


def test_it_is_told_every_two_seconds_and_listened_twice_a_second(here: Layout, clock: Clock) -> None:
    assert tell(here) == (False, False)
    assert [now for now, _ in clock.told] == [1000.5, 1002.5, 1004.5, 1006.5] and set(clock.waits) == {0.5}
    assert {(one["plan"], one["on"], one["wish"]) for _, one in clock.told} == {("made up", "local", None)}
    assert clock.threads == [("bulletin", True), "joined"]
    assert not list((here.local / "work").glob("*/campaign-*"))


@pytest.mark.parametrize(
    ("words", "heard", "wish"),
    [("drain", (True, False), "drain"), ("stop", (False, True), "stop"), ("go on", (False, False), None)],
)
def test_a_wish_is_heard_told_and_forgotten(
    here: Layout, clock: Clock, words: str, heard: tuple[bool, bool], wish: str | None
) -> None:
    def ask() -> None:
        if clock.now == 1003.0:
            wish_of(here).write_text(words)

    clock.each = ask
    assert tell(here) == heard
    assert [one["wish"] for _, one in clock.told] == [None, None, wish, wish]
    assert not list((here.local / "work").glob("*/campaign-*"))


def test_a_bulletin_that_can_not_be_written_stops_nothing(
    here: Layout, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.error = OSError(28, "No space left on device")
    assert tell(here) == (False, False)
    words = "this campaign can't tell of itself: [Errno 28] No space left on device"
    assert [record.getMessage() for record in caplog.records] == [words] * 4, "not more often than it tells"


def write(layout: Layout, *several: Bulletin) -> Path:
    folder = own_folder(layout.local / "work")
    for one in several:
        (folder / f"campaign-{one.name}.json").write_text(one.model_dump_json())
    return folder


OTHER = BULLETIN.model_copy(update={"name": "aaa", "plan": "smoke"})
NOTHING = "nothing is to be stopped: harness status --watch shows what runs"


def test_who_is_to_end_is_told_in_three_parts(here: Layout) -> None:
    def refused(name: str) -> tuple[str, str, str]:
        with pytest.raises(UsageError) as refusal:
            ask_to_end(here, name, Wish.STOP)
        return said(refusal.value)

    where = str(here.local)
    assert refused("") == ("no campaign is at work here", where, NOTHING)
    assert refused("x") == ("no campaign is called x", where, NOTHING)
    folder = write(here, BULLETIN)
    todo = "name one: 3fa91c (full)"
    assert refused("x") == ("no campaign is called x", where, todo)
    assert refused("3fa91") == ("no campaign is called 3fa91", where, todo)
    write(here, OTHER)
    todo = "name one: 3fa91c (full), aaa (smoke)"
    assert refused("") == ("2 campaigns are at work here", where, todo)
    assert not list(folder.glob("*.wish")), "nobody was asked"
    assert ask_to_end(here, "aaa", Wish.STOP) == OTHER
    assert {path.name: path.read_text() for path in folder.glob("*.wish")} == {"campaign-aaa.wish": "stop"}


def test_the_only_one_need_not_be_named(here: Layout) -> None:
    folder = write(here, BULLETIN)
    assert ask_to_end(here, "", Wish.DRAIN) == BULLETIN
    assert (folder / "campaign-3fa91c.wish").read_text() == "drain"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Input should be a valid dictionary or instance of Bulletin"),
        ('{"colour": "red"}', "Field required"),
    ],
)
def test_what_no_campaign_told_is_named_in_three_parts(here: Layout, text: str, why: str) -> None:
    folder = write(here, BULLETIN)
    (folder / "campaign-odd.json").write_text(text)
    (folder / "other-odd.json").write_text(text)
    with pytest.raises(CorruptData) as refused:
        ask_to_end(here, "odd", Wish.DRAIN)
    assert said(refused.value) == (
        f"this is not what a campaign tells: {why}",
        str(folder / "campaign-odd.json"),
        "it may be of another version of the harness, which can stop it",
    )
    assert not list(folder.glob("*.wish"))


def test_what_no_campaign_told_keeps_nobody_from_the_others(
    here: Layout, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write(here, BULLETIN)
    (folder / "campaign-odd.json").write_text("{")
    for _ in range(2):
        assert [*bulletins(here).values()] == [BULLETIN]
    assert ask_to_end(here, BULLETIN.name, Wish.DRAIN) == BULLETIN
    assert ask_to_end(here, "", Wish.DRAIN) == BULLETIN
    (warning,) = (record.getMessage() for record in caplog.records)
    assert warning.startswith("warning: a campaign is left out: this is not what a campaign tells: ")
    assert str(folder / "campaign-odd.json") in warning


def test_a_line_for_each_verdict_and_machine_in_their_order() -> None:
    told = BULLETIN.model_copy(
        update={"ended": {"timeout": 1, "ok": 2}, "nodes": {"b": 1, "a": 2}, "underway": (), "ill": (), "runs": 1}
    )
    assert told.text().splitlines()[1:] == [
        "  2 ok, 1 timeout, 4 lost with their worker",
        "  a: 0 at work, 2 ended",
        "  b: 0 at work, 1 ended",
    ]


def test_at_the_end_each_course_is_counted_and_every_ill_worker_told() -> None:
    ill = [IllWorker(host=host, worker=f"tcp://{host}:1", reason="no disk") for host in ("b", "a")]
    courses = Counter({Course.RUN: 7, Course.FOUND: 5, Course.DUPLICATE: 3, Course.FAULT: 9})
    assert Counts(courses, 2, ill).text("tcp://s:1").splitlines() == [
        "on tcp://s:1: 7 runs, 5 found in the store when their turn came, "
        "3 made twice, of which the first stays, 2 lost with their worker",
        "b: worker tcp://b:1 is given nothing more: no disk",
        "a: worker tcp://a:1 is given nothing more: no disk",
    ]


def test_every_ill_worker_is_told_below_its_machine() -> None:
    """Also where a machine has nothing else to show."""
    where = {"w1": "b", "w2": "c", "w3": "b"}
    ill = tuple(IllWorker(host=host, worker=worker, reason="no disk") for worker, host in where.items())
    told = BULLETIN.model_copy(
        update={"ended": {}, "lost": 0, "nodes": {"b": 1}, "underway": (), "ill": ill, "runs": 1}
    )
    assert told.text().splitlines()[1:] == [
        "  b: 0 at work, 1 ended",
        "    worker w1 is given nothing more: no disk",
        "    worker w3 is given nothing more: no disk",
        "  c: 0 at work, 0 ended",
        "    worker w2 is given nothing more: no disk",
    ]


def test_what_is_not_said_of_a_run_is_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    tally, name = Tally(), socket.gethostname()
    tally.expect([5.0])
    tally.begun("a", "run a")
    tally.begun("b", "run b", "n1")
    now[0] = 15.0
    tally.begun("b", "run b", "n2")
    now[0] = 16.0
    told = tally.bulletin("x", "plan", "on", Wish.DRAIN)
    assert (told.name, told.plan, told.on, told.wish, told.lost) == ("x", "plan", "on", Wish.DRAIN, 0)
    assert (told.host, told.process, told.seconds) == (name, os.getpid(), 6.0)
    shown = [(one.label, one.host, one.seconds) for one in told.underway]
    assert shown == [("run a", name, 6.0), ("run b", "n2", 1.0)], "on another machine it begins anew"
    tally.ended("a", Verdict.OK)
    assert tally.bulletin("x", "plan", "on", None).nodes == {name: 1}
