"""Unmounting of what our engine left behind when it crashed; its folders could not be removed otherwise."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

_DETACH = 2


def unmount_below(place: Path) -> list[Path]:
    """Detach every mount at or below `place`, the deepest first. Returns what was detached."""
    points = sorted(mounts_below(place), key=lambda point: len(point.parts), reverse=True)
    if not points:
        return []
    library = ctypes.CDLL(None, use_errno=True)
    return [point for point in points if library.umount2(os.fsencode(point), _DETACH) == 0]


def mounts_below(place: Path) -> list[Path]:
    """Mount points at or below a folder."""
    real = place.resolve()
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    points = [Path(_plain(line.split()[4])) for line in lines]
    return [point for point in points if point == real or real in point.parents]


def _plain(text: str) -> str:
    """The kernel writes spaces and the like as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
