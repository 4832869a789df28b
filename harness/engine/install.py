"""Installation of Docker from the distribution, as root on Debian or Ubuntu, announced before it is done."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from pathlib import Path

from harness.base.errors import EngineError

log = logging.getLogger(__name__)

_PACKAGES = ("docker.io",)


def possible() -> bool:
    """Whether this is root on a system with apt-get."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None and _is_debian_like()


def install_docker() -> None:
    """Install Docker without recommended packages and without starting anything else."""
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *_PACKAGES]
    log.warning("no container engine was found: installing it now with `%s`", " ".join(command))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # the package's own service is left alone: the harness serves a private engine
    for step in (["apt-get", "update", "--quiet"], command):
        result = subprocess.run(step, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if result.returncode != 0:
            lines = (result.stderr or result.stdout).decode(errors="replace").strip().splitlines()
            raise EngineError(
                f"`{' '.join(step)}` ended with code {result.returncode}",
                where=lines[-1] if lines else "it said nothing",
                todo="correct what it names, or install Docker Engine or Podman yourself",
            )


def _is_debian_like() -> bool:
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return False
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    families = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', "").split()
    return bool({"debian", "ubuntu"} & set(families))
