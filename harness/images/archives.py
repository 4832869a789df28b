"""Downloading one file from an archive: by this system's apt with its proxies and keys, or by URL, resumed."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from harness.base.download import ATTEMPTS, MOST_BYTES, Refused, transfer
from harness.base.errors import MissingData
from harness.images.bounds import outgrew, run_bounded, too_long
from harness.images.locks import Part

_HELPERS = ("/usr/lib/apt/apt-helper", "/usr/libexec/apt/apt-helper")


@cache
def apt_archives() -> list[str]:
    """The archives this system's apt is configured with, Debian's first; empty where there is no apt."""
    if shutil.which("apt-get") is None or _helper() is None:
        return []
    result = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)"], capture_output=True, text=True
    )
    rows = [line.strip().rsplit(" ", 1) for line in result.stdout.splitlines() if line.strip()]
    debian = [row[-1] for row in rows if "debian" in " ".join(row).lower()]
    return list(dict.fromkeys(debian or [row[-1] for row in rows]))


def download_by_apt(archive: str, part: Part, folder: Path) -> Path:
    """A copy of one file of an archive, fetched by apt's own downloader."""
    target = folder / part.file
    helper = _helper()
    assert helper is not None  # apt_archives() is empty otherwise
    command = [
        *(helper, "-o", "APT::Sandbox::User=root", "-o", f"Acquire::Retries={ATTEMPTS}"),
        *("download-file", f"{archive.rstrip('/')}/{part.path}", str(target), f"SHA256:{part.sha256}"),
    ]
    most = MOST_BYTES if part.size is None else part.size
    result = run_bounded(command, most)
    if result.returncode != 0 or not target.is_file():
        if outgrew(result):
            raise MissingData(f"apt can't download it: {too_long(most, locked=part.size is not None)}")
        lines = [
            line.strip()
            for line in (result.stderr + result.stdout).splitlines()
            if line.startswith(("E:", "W:", "Err"))
        ]
        raise MissingData(f"apt can't download it: {lines[-1] if lines else 'no reason was given'}")
    return target


def download(root: str, part: Part, folder: Path) -> Path:
    """A copy of ROOT/PATH; an interrupted transfer goes on where it stopped."""
    try:
        return transfer(f"{root.rstrip('/')}/{part.path}", folder / part.file, size=part.size, resume=True)
    except Refused as error:
        raise MissingData(str(error)) from None


def _helper() -> str | None:
    return next((path for path in _HELPERS if Path(path).is_file()), None)
