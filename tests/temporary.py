"""Where tests keep temporary folders: in memory, if there is plenty, because they are many and soon removed."""

from __future__ import annotations

import os
from pathlib import Path

from harness.base.machine import GIB

# The name that pytest itself gives to the folder above its own.
VARIABLE = "PYTEST_DEBUG_TEMPROOT"
_MEMORY = Path("/dev/shm")
_ENOUGH = 10 * GIB


def prefer_memory(folder: Path = _MEMORY) -> None:
    """Let pytest make its folders in memory, unless the user names a place; else they stay on the disk."""
    if VARIABLE not in os.environ and _serves(folder):
        os.environ[VARIABLE] = str(folder)


def _serves(folder: Path) -> bool:
    """Whether a folder is in memory, of which there is enough, and programs may be started from it."""
    if not os.access(folder, os.W_OK):
        return False
    state = os.statvfs(folder)
    return not state.f_flag & os.ST_NOEXEC and min(state.f_bavail * state.f_frsize, _available()) >= _ENOUGH


def _available() -> int:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
