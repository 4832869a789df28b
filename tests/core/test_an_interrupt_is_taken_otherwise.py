"""A wish to end is one wish however often it is said within a second, and what was set up for it is taken down."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base import interrupt
from harness.base.interrupt import (
    Interrupted,
    end_at_once_on_interrupt,
    end_on_interrupt,
    stop_on_interrupt,
)

WISHES = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Signals are handled afterwards as they were before."""
    before = {number: signal.getsignal(number) for number in (*WISHES, signal.SIGUSR1)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands until it is set."""
    clock = [100.0]
    monkeypatch.setattr(interrupt, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=time.sleep))
    return clock


def test_a_stopped_command_ends_as_shells_expect() -> None:
    assert Interrupted("stopped").exit_code == 130


@pytest.mark.parametrize("number", WISHES)
def test_a_wish_is_heard_once_a_second(number: signal.Signals, now: list[float]) -> None:
    for one in WISHES:
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_on_interrupt()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    now[0] += 0.99
    for one in WISHES:
        signal.raise_signal(one)
    now[0] = 101.0
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_what_was_ignored_or_handled_before_stays_so() -> None:
    def own(*_: object) -> None:
        """A handler of somebody else."""

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, own)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    end_on_interrupt()
    assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)) == (signal.SIG_IGN, own)
    assert callable(signal.getsignal(signal.SIGINT))


def test_a_thread_beside_the_main_one_asks_for_nothing() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(end_on_interrupt).result()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize("number", WISHES)
def test_who_leaves_anyway_leaves_at_once_with_its_code(number: signal.Signals) -> None:
    child = os.fork()
    if child == 0:
        signal.signal(number, signal.SIG_DFL)
        end_at_once_on_interrupt(7)
        signal.raise_signal(number)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_who_leaves_still_ignores_what_was_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # a shell lets what it starts in the background ignore this one
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_at_once_on_interrupt(7)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert callable(signal.getsignal(signal.SIGINT)) and callable(signal.getsignal(signal.SIGTERM))


def _is_raised(number: signal.Signals) -> bool:
    """Whether a signal interrupts the main thread, which waits for it for a while."""
    try:
        os.kill(os.getpid(), number)
        latest = time.monotonic() + 10
        while time.monotonic() < latest:
            time.sleep(0.01)
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.parametrize("number", WISHES[:2])
def test_the_first_wish_asks_and_one_a_second_later_interrupts(
    number: signal.Signals, now: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {one: signal.getsignal(one) for one in WISHES}
    open_files = len([*Path("/proc/self/fd").iterdir()])
    signal.signal(signal.SIGUSR1, lambda *_: None)
    with stop_on_interrupt() as stop:
        assert ("interrupt", True) in {(one.name, one.daemon) for one in threading.enumerate()}
        # no wish of a person's
        signal.raise_signal(signal.SIGUSR1)
        time.sleep(0.05)
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        assert stop.wait(10)
        now[0] = 100.99
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
        now[0] = 101.0
        assert _is_raised(number)
        # this one belongs to it, the next one does not
        now[0] = 101.5
        signal.raise_signal(number)
        now[0] = 102.0
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert capsys.readouterr().err == "stopping: finished runs are kept; once more to stop at once\n"
    assert {one: signal.getsignal(one) for one in WISHES} == before
    assert signal.set_wakeup_fd(-1) == -1
    assert "interrupt" not in {one.name for one in threading.enumerate()}
    assert len([*Path("/proc/self/fd").iterdir()]) == open_files


def test_who_was_woken_by_signals_before_is_woken_again() -> None:
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    try:
        with stop_on_interrupt() as stop:
            pass
        assert signal.set_wakeup_fd(-1) == wake and not stop.is_set()
    finally:
        signal.set_wakeup_fd(-1)
        os.close(waking)
        os.close(wake)


def test_signals_that_nobody_reads_any_more_are_no_noise(
    now: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the second wish nobody listens; what still comes fills the pipe, which holds a page here."""
    really, heard = os.pipe, list[object]()

    def small() -> tuple[int, int]:
        waking, wake = really()
        fcntl.fcntl(wake, fcntl.F_SETPIPE_SZ, 4096)
        return waking, wake

    monkeypatch.setattr(os, "pipe", small)
    monkeypatch.setattr(sys, "unraisablehook", heard.append)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    with stop_on_interrupt() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(10)
        now[0] = 101.0
        assert _is_raised(signal.SIGINT)
        for _ in range(5000):
            signal.raise_signal(signal.SIGUSR1)
    assert heard == [] and capsys.readouterr().err.count("\n") == 1
