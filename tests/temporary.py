"""Where tests keep temporary folders: in memory, if there is plenty, because they are many and soon removed."""

from __future__ import annotations

import os
from pathlib import Path

from harness.base.machine import GIB
from harness.images.limits import _available_memory

# The name that pytest itself gives to the folder above its own.
_VARIABLE = "PYTEST_DEBUG_TEMPROOT"
_MEMORY = Path("/dev/shm")
_ENOUGH = 10 * GIB


def prefer_memory() -> None:
    """Let pytest make its folders in memory, unless the user names a place; else they stay on the disk."""
    if _VARIABLE not in os.environ and _serves(_MEMORY):
        os.environ[_VARIABLE] = str(_MEMORY)


def _serves(folder: Path) -> bool:
    """Whether a folder is in memory, of which there is enough, and programs may be started from it."""
    if not os.access(folder, os.W_OK):
        return False
    state = os.statvfs(folder)
    free = min(state.f_bavail * state.f_frsize, _available_memory() or 0)
    return not state.f_flag & os.ST_NOEXEC and free >= _ENOUGH
