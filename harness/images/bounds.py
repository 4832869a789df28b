"""Running another program's downloader so that no file it writes can outgrow what the lock says."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Sequence

# An interpreter sets the limit on itself and becomes the program: a limit set from outside would come too late for
# a fast one. It also ignores SIGXFSZ, so that the program hears of a full file as an error it can report.
_LIMIT = (
    "import os, resource, sys; n = int(sys.argv[1]); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)); os.execvp(sys.argv[2], sys.argv[2:])"
)


def run_bounded(command: Sequence[str], most_bytes: int) -> subprocess.CompletedProcess[str]:
    """Run a command none of whose files may grow beyond `most_bytes`."""
    limit = [sys.executable, "-I", "-S", "-c", _LIMIT, str(most_bytes)]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run([*limit, *command], capture_output=True, text=True, errors="replace", env=environment)


def outgrew(result: subprocess.CompletedProcess[str]) -> bool:
    """Whether a command failed because a file of it met the limit."""
    return os.strerror(errno.EFBIG) in result.stdout + result.stderr


def too_long(most_bytes: int, *, locked: bool) -> str:
    """The reason to give for a file that is longer than it may be."""
    return f"it is longer than the {'locked' if locked else 'allowed'} {most_bytes} bytes"
