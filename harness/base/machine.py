"""This machine: its processor, which the last bits of an answer can depend on, and the room on its disks."""

from __future__ import annotations

import os
import platform
import re
from functools import cache
from pathlib import Path

GIB = 1 << 30
# What may be written between two looks at the output: a twentieth of a large disk, but at most the larger number,
# because people work on large disks that are nearly full.
_SMALLEST, _LARGEST = 2 * GIB, 4 * GIB
_FILES = 20_000


@cache
def processor() -> str:
    """The processor's own name; its architecture where the system gives none."""
    names = (line.partition(":")[2].strip() for line in _cpu_lines() if line.startswith("model name"))
    return next(names, platform.machine())


# What the kernels of numerical libraries are chosen by.
_FLAGS = re.compile(r"sse4_[12]|avx\w*|fma4?|f16c|amx\w*|asimd\w*|sve\w*|bf16|i8mm")


@cache
def processor_flags() -> list[str]:
    """The processor's abilities that numerical libraries ask for, sorted."""
    flags = (line.partition(":")[2].split() for line in _cpu_lines() if line.startswith(("flags", "Features")))
    return sorted(flag for flag in set(next(flags, [])) if _FLAGS.fullmatch(flag))


def _cpu_lines() -> list[str]:
    """What the system says of the processors; nothing where it does not."""
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def hardware() -> tuple[str, list[str]]:
    """This processor as records know it. Virtual machines give several kinds one name: abilities belong to it."""
    return processor(), processor_flags()


def reserve_of(size: int) -> int:
    """The bytes that must stay free on a disk of this size."""
    return min(max(_SMALLEST, size // 20), _LARGEST, size // 8)


def room_on(folder: Path) -> int:
    """Bytes that may still be written on the disk of a folder; below 0 when its reserve is touched."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize - reserve_of(state.f_blocks * state.f_frsize)


def has_room_for_files(folder: Path) -> bool:
    """Whether a reserve of files is left; a file system without a fixed number of files counts as one."""
    state = os.statvfs(folder)
    return not state.f_files or state.f_favail >= min(_FILES, state.f_files // 20)
