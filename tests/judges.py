"""Tools that are not ours and judge what we write: validators of formats, statistics, signatures.

Each set of them has an environment of its own, from a hash-locked list under requirements/judges/: they are no
part of the harness, and need not agree with what it is installed from.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from harness.base.layout import find_layout

_MADE = ".made"


@cache
def judge(name: str) -> Path:
    """The folder of programs of one set of tools, made on first use; skips the test where it can't be."""
    layout = find_layout()
    lock = layout.root / "requirements" / "judges" / f"{name}.lock"
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = layout.cache / "judges" / f"{name}-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if not (folder / _MADE).is_file():
            _make(folder, lock)
    return folder / "bin"


def _make(folder: Path, lock: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    # some of these tools are published as sources only: their hashes are locked like all others
    install = [folder / "bin" / "python", "-m", "pip", "install", "-qq", "--require-hashes", "-r", lock]
    done = subprocess.run(list(map(str, install)), capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(folder)
        pytest.skip(f"the tools of {lock.name} could not be installed: {done.stderr.strip()[-300:]}")
    (folder / _MADE).touch()
