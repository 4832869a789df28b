"""Who owns a container or a temporary folder: a lock that the kernel releases when its process dies.

A process id can be reused and a pid file can be stale; a held `flock` can be neither. Every process that
runs containers holds the lock of its own folder under the work folder. What is labelled with a lock that
nobody holds has no owner any more, however its owner ended, and may be removed.

A lock that can't be seen proves nothing: a harness in a container of its own, beside the same engine, sees other
files. So a folder's name tells where it is seen: in which mount name space, since which start of the machine. And
a lock that is free here proves nothing of another machine, where locks end at each machine.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import tempfile
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

from harness.base.network_files import locks_are_local

LABEL_HARNESS = "permafrost.harness"
LABEL_RUN = "permafrost.run"
_LOCK_NAME = "owner.lock"
_PREFIX = "harness"
_NAMED = re.compile(rf"{_PREFIX}-(?P<boot>[0-9a-f]{{4}})-(?P<space>[0-9a-f]+)-\w+", re.ASCII)

_guard = threading.Lock()
_owned: dict[Path, tuple[Path, int]] = {}


def own_folder(work: Path) -> Path:
    """This process's folder under `work`, made and locked on first use and held until the process ends."""
    key = work.absolute()
    with _guard:
        if key in _owned:
            return _owned[key][0]
        key.mkdir(parents=True, exist_ok=True)
        while True:
            folder = Path(tempfile.mkdtemp(dir=key, prefix=f"{_PREFIX}-{boot()}-{mount_space()}-"))
            handle = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(handle, fcntl.LOCK_EX)
            # a clean-up elsewhere may have taken the new folder before it was locked
            if (folder / _LOCK_NAME).exists():
                break
            os.close(handle)
        _owned[key] = (folder, handle)
        return folder


def owner_of(folder: Path) -> str:
    """The label value that leads from a container to its owner's lock."""
    return str(folder / _LOCK_NAME)


def is_owned(lock: Path) -> bool:
    """Whether some process may hold this lock: only what is provably free counts as free."""
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return not _would_be_seen(lock)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    named = _NAMED.fullmatch(lock.parent.name)
    return named is not None and named["boot"] != boot() and locks_are_local(lock)


def _would_be_seen(lock: Path) -> bool:
    """Whether a missing lock is gone for certain: it would be seen here, or its process ended with the machine."""
    named = _NAMED.fullmatch(lock.parent.name)
    return named is not None and (named["boot"] != boot() or named["space"] == mount_space())


@cache
def boot() -> str:
    """Digits that tell one start of this machine from another; two that are equal by chance do no harm."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:4]


def mount_space() -> str:
    """The number of the mount name space of this process: what sees the same number sees the same files."""
    return f"{Path('/proc/self/ns/mnt').stat().st_ino:x}"


def abandoned_folders(work: Path) -> list[Path]:
    """Folders under `work` whose process has ended."""
    if not work.is_dir():
        return []
    folders = sorted(path for path in work.iterdir() if path.name.startswith(f"{_PREFIX}-") and path.is_dir())
    return [path for path in folders if not is_owned(path / _LOCK_NAME)]


def _forget_after_fork() -> None:
    """Let a forked child make a folder of its own, because it must not write into its parent's."""
    global _guard
    _guard = threading.Lock()
    for _, handle in _owned.values():
        os.close(handle)
    _owned.clear()


def _leave() -> None:
    """Remove folders that hold nothing but their lock when the process ends."""
    for folder, handle in _owned.values():
        with suppress(OSError):
            is_empty = [path.name for path in folder.iterdir()] == [_LOCK_NAME]
            if is_empty:
                (folder / _LOCK_NAME).unlink()
            # NFS keeps a removed file under another name until it is closed
            os.close(handle)
            if is_empty:
                folder.rmdir()
    _owned.clear()


atexit.register(_leave)
os.register_at_fork(after_in_child=_forget_after_fork)
