"""Work in a process of its own: as another user, or where what is mounted is seen by nobody else."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NOBODY = 65534


def in_child(prepare: Callable[[], object], work: Callable[[], object]) -> str:
    """What a function returns, as text, in a process of its own that was prepared for it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            prepare()
            os.write(writing, str(work()).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    text = os.read(reading, 1 << 16).decode()
    os.close(reading)
    return text


def become_nobody() -> None:
    os.setgroups([])
    os.setuid(NOBODY)


def leave_the_mounts() -> None:
    """What is mounted from here on, or unmounted by a fault, nobody else sees."""
    library = ctypes.CDLL(None, use_errno=True)
    new_mounts, private_and_below = 0x20000, (1 << 18) | (1 << 14)
    assert library.unshare(new_mounts) == 0
    assert library.mount(None, b"/", None, private_and_below, None) == 0


@contextmanager
def standard_input(text: bytes) -> Iterator[None]:
    """What this process and its children could read meanwhile, if they asked the person at the terminal."""
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    before = os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
