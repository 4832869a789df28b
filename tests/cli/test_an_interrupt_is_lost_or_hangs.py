"""Ctrl-C and SIGTERM, alone, together and repeated, end a run: none is lost, none makes the harness hang."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# Waits as a campaign waits: the main thread for futures, a thread for the wish to stop.
_WAITING = """
import os, sys, time
from concurrent.futures import ThreadPoolExecutor, as_completed
from harness.base.interrupt import stop_on_interrupt

def work(stop, heed):
    print("waiting", flush=True)
    for _ in range(200):
        if not heed:
            time.sleep(0.1)
        elif stop.wait(0.1):
            return "stopped"
    return "never stopped"

with stop_on_interrupt() as stop, ThreadPoolExecutor(2) as pool:
    future = pool.submit(work, stop, sys.argv[1] == "heed")
    try:
        for done in as_completed([future]):
            print(done.result(), flush=True)
            # on a busy machine signals sent together may come apart
            time.sleep(0.3)
    except KeyboardInterrupt:
        print("at once", flush=True)
        os._exit(130)
"""


@contextmanager
def _waiting(heed: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", _WAITING, heed], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.05)
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    "signals",
    [
        (signal.SIGINT,),
        (signal.SIGTERM,),
        # what `timeout` does: to the process, then to its group
        (signal.SIGTERM, signal.SIGTERM),
        # two kinds at once: another thread than the main one takes them
        *[(signal.SIGTERM, signal.SIGTERM, signal.SIGINT)] * 6,
    ],
)
def test_signals_that_come_together_are_one_wish_to_stop(signals: tuple[signal.Signals, ...]) -> None:
    with _waiting("heed") as process:
        for number in signals:
            process.send_signal(number)
        told, said = process.communicate(timeout=15)
    assert told == "stopped\n"
    assert said.count("finished runs are kept") == 1
    assert process.returncode == 0


def test_a_later_signal_ends_what_does_not_stop() -> None:
    with _waiting("ignore") as process:
        assert process.stderr is not None
        process.send_signal(signal.SIGTERM)
        # a second after the harness has heard the first, which on a busy machine is later than it was sent
        assert "once more to stop at once" in process.stderr.readline()
        time.sleep(1.2)
        process.send_signal(signal.SIGTERM)
        told, _ = process.communicate(timeout=15)
    assert told == "at once\n"
    assert process.returncode == 130
