"""The use of a served engine by this process. Whatever interrupts the process, and whenever, it lets go of it.

Only a `kill -9` leaves an engine running; the next harness with the same cache uses it, and stops it.
"""

from __future__ import annotations

import atexit
import fcntl
import logging
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from harness.engine.service import Service, ensure_running, starting, stop

log = logging.getLogger(__name__)


class Lease:
    """The use of a served engine. It ends with `release`, or with the process, however that ends."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._users: int | None = None
        self._guard = threading.Lock()
        self._unwanted = threading.Event()
        _held.add(self)
        try:
            _undisturbed(self._take)
        except BaseException:
            # a Ctrl-C too: nobody has this lease, so nobody else could stop what was started for it
            self.release()
            raise

    def revive(self) -> None:
        """Start the engine again if it is gone."""
        _undisturbed(self._start)

    def release(self) -> None:
        """Stop using the engine; the last user stops it. To do it twice does no harm."""
        self._unwanted.set()
        _undisturbed(self._leave)

    def _take(self) -> None:
        with self._guard, starting(self._service):
            if self._unwanted.is_set():
                return  # an interrupt let the release overtake this
            self._users = os.open(self._service.folder / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
            # taken before looking, so that the last user cannot stop an engine that is about to be shared
            fcntl.flock(self._users, fcntl.LOCK_SH)
            ensure_running(self._service, self._unwanted)

    def _start(self) -> None:
        with self._guard, starting(self._service):
            ensure_running(self._service, self._unwanted)

    def _leave(self) -> None:
        with self._guard, starting(self._service):
            users, self._users = self._users, None
            if users is not None:
                try:
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if not self._service.is_kept:
                        stop(self._service)
                except BlockingIOError:
                    log.debug("somebody else uses %s", self._service.socket)
                finally:
                    os.close(users)
            _held.discard(self)


# The leases of this process.
_held: set[Lease] = set()


def _undisturbed(work: Callable[[], None]) -> None:
    """Do what a signal must not cut in two: Python raises what comes of signals in the main thread alone.

    An interrupt ends the waiting here, and never the work.
    """
    beside = ThreadPoolExecutor(1)
    try:
        beside.submit(work).result()
    finally:
        beside.shutdown(wait=False)


def _release_all() -> None:
    """Let go of what an interrupt kept from being released, however many more of them come."""
    if _held and threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    for lease in tuple(_held):
        # not beside this thread: a process that ends starts no other
        lease._leave()


def _forget_after_fork() -> None:
    """A child of this process uses no engine: it must not stop its parent's."""
    _held.clear()


atexit.register(_release_all)
os.register_at_fork(after_in_child=_forget_after_fork)
