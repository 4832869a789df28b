"""Keeps LIBMF's own thread from running beside the one that commands it.

After the last iteration the library wakes its thread before it tells it to stop. Where both run at once the thread
may begin one more iteration, which changes the factors, or finish it, and then the library waits for ever.
"""

from __future__ import annotations

import ctypes
import os


def take_turns() -> None:
    """One processor for all threads, and none that is woken displaces the one that runs."""
    os.sched_setaffinity(0, {ctypes.CDLL(None).sched_getcpu()})
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
