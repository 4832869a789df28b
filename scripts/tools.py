"""Environments of tools that are not ours, each made from a hash-locked list, in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from harness.base.errors import EngineError

_MADE = ".made"


def programs_of(lock: Path, cache: Path) -> Path:
    """The folder of programs of an environment, made on first use."""
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = cache / f"{lock.stem}-{digest}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{lock.stem}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if not (folder / _MADE).is_file():
            _make(folder, lock)
    return folder / "bin"


def _make(folder: Path, lock: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    # some of these tools are published as sources only: their hashes are locked like all others
    install = [folder / "bin" / "python", "-m", "pip", "install", "-qq", "--require-hashes", "-r", lock]
    for command, todo in (
        ([sys.executable, "-m", "venv", folder], "install Python's module venv (python3-venv)"),
        (install, "connect this machine to a package index, or name one to pip (`pip config list`)"),
    ):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            # venv says on standard output what it lacks
            reason = (done.stderr.strip() or done.stdout.strip())[-300:]
            raise EngineError(
                f"the tools of {lock.name} could not be installed: {reason}",
                where=str(lock),
                todo=f"{todo}; then again",
            )
    (folder / _MADE).touch()
