"""Work in a forked child: bounded in time and memory, and heard of by its exit code alone."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress

_MEMORY = 12 << 30
_FILE = 2 << 30


def forked(work: Callable[[], None], limit: float) -> int | None:
    """How a child ended that did this work; None where it took too long."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(quiet, handle)
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + limit
    ended = None
    while ended is None and time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended = os.waitstatus_to_exitcode(status)
        else:
            time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if ended is None:
        os.waitpid(pid, 0)
    return ended


def cpu_seconds() -> float:
    """What this process and its ended children have computed."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def limit_child() -> None:
    """Bound what a child may take and write, whatever a defect makes of it."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))
