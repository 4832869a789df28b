"""Which user a container's processes are: one of its own, so that the kernel counts nothing of it with others."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import NamedTuple

from harness.engine.facts import EngineFacts

# Numbers that nobody gives to anybody: above all ranges for subordinate users, below what 31 bits hold.
_NUMBERS = range(0x7000_0000, 0x7FFF_0000)
# A user name space usually has 65,536 numbers.
_MAPPED_NUMBERS = range(0x4000, 0xF000)
_UID_MAP = Path("/proc/self/uid_map")


class ContainerUser(NamedTuple):
    """Who a method runs as; `own` if no other process of the machine has this number."""

    uid: int
    gid: int
    own: bool


def container_user(facts: EngineFacts, *, uid: int, gid: int) -> ContainerUser:
    """Who the method runs as: a number that no other container and nobody on this machine has.

    The kernel counts pipes, timers, queues and more per user, so that two containers of one user can stop each
    other, and hear each other. A number is drawn from so many that no register of them has to be kept. Only where
    an ordinary user drives an engine that is root can files not be handed over; there the method runs as that
    user, who is as unprivileged.
    """
    if uid != 0 and not facts.rootless:
        return ContainerUser(uid, gid, own=False)
    numbers = _MAPPED_NUMBERS if facts.user_namespace or not _has_all_numbers() else _NUMBERS
    number = secrets.choice(numbers)
    return ContainerUser(number, number, own=True)


def _has_all_numbers() -> bool:
    """Whether this process is outside of any user name space."""
    try:
        lines = _UID_MAP.read_text().splitlines()
    except OSError:
        return False
    return any(int(first) + int(count) > _NUMBERS.stop for first, _, count in map(str.split, lines))
