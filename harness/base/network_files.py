"""Files that several machines share, over NFS for instance: what a local disk promises, and they do not.

A rename or removal whose answer was lost is asked again by the client, and then fails although it was done. What
was not there a moment ago may be there: names are cached until a folder, or the file, is opened. Locks may end at
the machine, as the file system is mounted. How NFS is to be understood: docs/decisions/a-million-cells.md.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_MOUNTS = Path("/proc/self/mounts")
# Linux says so of NFS (local_lock, nolock) and of Lustre (localflock).
_LOCAL_LOCKS = frozenset({"nolock", "local_lock=all", "local_lock=flock", "localflock"})
_GONE = (errno.ENOENT, errno.ESTALE)
_DONE_BEFORE = (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST)


def move(source: Path, target: Path) -> None:
    """Rename in one step. Where it fails because it was done before, at the first time of asking, it has not."""
    moved = source.lstat()
    try:
        source.rename(target)
    except OSError as error:
        if error.errno not in _DONE_BEFORE or not _is(target, moved):
            raise


def _is(path: Path, about: os.stat_result) -> bool:
    look_anew(path.parent)
    try:
        return os.path.samestat(path.lstat(), about)
    except OSError:
        return False


def look_anew(folder: Path) -> None:
    """Let go of what is remembered of the names in a folder: opening it asks the server whether it has changed."""
    with suppress(FileNotFoundError):
        os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))


def is_there(file: Path) -> bool:
    """Whether there is such a file now: opening it asks the server, where a look at its name would not."""
    try:
        os.close(os.open(file, os.O_RDONLY))
    except PermissionError:
        return True
    except OSError as error:
        if error.errno not in _GONE:
            raise
        return False
    return True


def clock_beside(folder: Path) -> float:
    """By how many seconds this machine's clock is ahead of the one that dates files there, perhaps a server's."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix="clock-") as file:
        return time.time() - Path(file.name).stat().st_mtime


def locks_are_local(path: Path) -> bool:
    """Whether other machines do not see our locks on a path, by how its file system is mounted here."""
    place, options, real = "", "", path.resolve()
    for line in _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        _, point, _, settings, *_ = line.split(" ")
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), point)
        # of two at one place the later covers the earlier
        if len(point) >= len(place) and real.is_relative_to(point):
            place, options = point, settings
    return not _LOCAL_LOCKS.isdisjoint(options.split(","))
