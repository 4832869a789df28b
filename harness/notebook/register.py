"""Kernel specifications: how JupyterLab, VS Code and other clients on this machine learn of a method's kernel."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.base.files import write_json
from harness.planning.jobs import Job


def register(job: Job, title: str, language: str, arguments: Sequence[str]) -> Path:
    """Write a kernel specification that calls `harness notebook` with these arguments; returns its folder."""
    folder = _data_folder() / "kernels" / f"permafrost-{job.method.replace('_', '-')}"
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "harness", "notebook", *arguments, "--connection-file", "{connection_file}"]
    write_json(
        folder / "kernel.json",
        {
            "argv": command,
            "display_name": f"Permafrost: {title}",
            # what cells are written in: R is reached through magics of IPython
            "language": "octave" if language == "octave" else "python",
            # a signal would reach the harness, not the kernel
            "interrupt_mode": "message",
            "metadata": {"permafrost": {"job": job.label}},
        },
    )
    return folder


def _data_folder() -> Path:
    """Where Jupyter looks for a user's own files on Linux."""
    if folder := os.environ.get("JUPYTER_DATA_DIR"):
        return Path(folder)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "jupyter"
