"""An interrupt asks work to end cleanly: containers and engines are stopped, finished runs are kept."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from harness.base.errors import HarnessError

_WISHES = (signal.SIGINT, signal.SIGTERM)
# What a program is told when its terminal is closed.
_LOST_TERMINAL = signal.SIGHUP
_SAME_WISH_S = 1.0
_UNHEARD_S = 0.1


class Interrupted(HarnessError):
    """A person stopped the command."""

    exit_code = 130


def end_on_interrupt() -> None:
    """Let Ctrl-C, SIGTERM and a closed terminal raise `KeyboardInterrupt` from now on, so that all is put away.

    Signals that come within a second count as one (as in `stop_on_interrupt`): the second must not interrupt the
    putting away.
    """
    raised = -math.inf

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal raised
        if time.monotonic() - raised >= _SAME_WISH_S:
            raised = time.monotonic()
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread can be told
    for number in (*_WISHES, _LOST_TERMINAL):
        # what was ignored or handled before this program began stays so
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, handle)


def end_at_once_on_interrupt(code: int) -> None:
    """Let every further signal end the process with this exit code: it is leaving, and all has been put away."""
    for number in (*_WISHES, _LOST_TERMINAL):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: os._exit(code))


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """The first Ctrl-C (or SIGTERM) asks for a clean end; one that comes a second later or more ends at once.

    Python runs a handler in the main thread, in the middle of anything (even of `Event.set`), and late where
    another thread took the signal. So the interpreter writes signals into a pipe, and the thread that reads it
    does the work.
    Signals that come together count as one: `timeout` sends two, to the process and to its group.
    """
    stop, leave, ended = threading.Event(), threading.Event(), threading.Event()
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    main = threading.get_ident()
    raised = -math.inf

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal raised
        # the wish itself and what wakes the main thread for it are handled one after the other: they are one
        if leave.is_set() and time.monotonic() - raised >= _SAME_WISH_S:
            raised = time.monotonic()
            raise KeyboardInterrupt

    def listen() -> None:
        first_wish = 0.0
        while byte := os.read(waking, 1):
            if byte[0] not in _WISHES:
                continue
            if not first_wish:
                first_wish = time.monotonic()
                stop.set()
                sys.stderr.write("stopping: finished runs are kept; once more to stop at once\n")
                sys.stderr.flush()
            elif time.monotonic() - first_wish >= _SAME_WISH_S:
                leave.set()
                # a signal that comes just before the main thread begins to wait is not heard until the next one
                while raised < 0 and not ended.is_set():
                    signal.pthread_kill(main, signal.SIGINT)
                    time.sleep(_UNHEARD_S)
                return

    listener = threading.Thread(target=listen, name="interrupt", daemon=True)
    listener.start()
    before = {number: signal.signal(number, handle) for number in _WISHES}
    woken_before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        yield stop
    finally:
        ended.set()
        signal.set_wakeup_fd(woken_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(wake)
        listener.join()
        os.close(waking)
