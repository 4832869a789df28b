"""The probe of the campaigns' tests, and a small disk of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaigns.conftest import probe_layout

__all__ = ["probe_layout"]

_SMALL = 1 << 30


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 GiB that nothing else writes to."""
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        pytest.skip("needs root and mkfs.ext4 to make a disk")
    image, place = tmp_path / "disk", tmp_path / "mounted"
    with image.open("wb") as stream:
        stream.truncate(_SMALL)
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", image], check=True)
    mounted = subprocess.run(["mount", "-o", "loop", image, place], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"needs a loop device: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        # lazily: this process holds the lock of its own folder there until it ends
        subprocess.run(["umount", "--lazy", place], check=True)
