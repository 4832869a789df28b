"""The bounds of a build: time, memory, the size of a file, disk, and rights. No build holds the lock for ever.

A build container runs packages' own scripts. Podman is told its limits; Docker's builder has no options for
them. So the recipe (containers/_recipe/common.sh) reads `limits.txt` from its context and sets them on itself,
with either engine, and this module watches the rest from outside: clock, disk, the machine's memory, the output.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LIMITS_FILE = "limits.txt"
# What dpkg, pip and tar need to lay files out; with `setpcap` the recipe gives up the others, itself included.
_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETPCAP")
_PROCESSES = 4096
_OPEN_FILES = 4096
_LOOK_SECONDS = 0.5
_END_SECONDS = 20.0


@dataclass(frozen=True)
class BuildLimits:
    """Bounds of one call of an engine's builder."""

    # the slowest environment here takes minutes; the whole call has several steps
    step_seconds: int = 3600
    seconds: float = 2 * 3600.0
    # of one process; Podman bounds the container by it
    memory_bytes: int = 8 << 30
    file_bytes: int = 8 << 30
    # what must stay free while a build runs
    free_disk_bytes: int = 1 << 30
    free_memory_bytes: int = 128 << 20
    output_bytes: int = 64 << 20

    @property
    def text(self) -> str:
        """`limits.txt`: seconds, kilobytes of memory, blocks of 512 bytes of a file, as `ulimit` counts."""
        return f"{self.step_seconds} {self.memory_bytes >> 10} {self.file_bytes >> 9}\n"

    def podman_options(self, *, memory: bool) -> list[str]:
        """The same from outside, and the capabilities before anything of an image runs."""
        options = ["--cap-drop", "ALL"]
        for name in _CAPABILITIES:
            options += ["--cap-add", name]
        bounds = {"fsize": self.file_bytes, "core": 0, "nofile": _OPEN_FILES, "nproc": _PROCESSES}
        for name, most in bounds.items():
            options += ["--ulimit", f"{name}={most}:{most}"]
        if memory:
            options += ["--memory", str(self.memory_bytes), "--memory-swap", str(self.memory_bytes)]
        return options


LIMITS = BuildLimits()


@dataclass(frozen=True)
class BuilderResult:
    """How a command ended: its exit code, its output, and why it was stopped, if it was."""

    code: int
    output: str
    stop_reason: str = ""


def run_watched(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], limits: BuildLimits, disk: Path
) -> BuilderResult:
    """Run a builder's client, and end it and what it started when a bound is met; `disk` is the engine's."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        deadline = time.monotonic() + limits.seconds
        stop_reason = ""
        try:
            while process.poll() is None and not stop_reason:
                stop_reason = _reason(limits, deadline, disk, os.fstat(output.fileno()).st_size)
                if not stop_reason:
                    _wait(process, _LOOK_SECONDS)
        finally:
            _end(process)
        output.seek(max(0, os.fstat(output.fileno()).st_size - limits.output_bytes))
        # what is killed may write on for a moment
        return BuilderResult(
            process.returncode, output.read(limits.output_bytes).decode(errors="replace"), stop_reason
        )


def _reason(limits: BuildLimits, deadline: float, disk: Path, output_bytes: int) -> str:
    """Why a build must end now; empty where it may go on."""
    if time.monotonic() > deadline:
        return f"it took more than {limits.seconds:.0f} s"
    if output_bytes > limits.output_bytes:
        return f"it said more than {limits.output_bytes >> 20} MiB"
    free = _free_bytes(disk)
    if free is not None and free < limits.free_disk_bytes:
        return f"less than {limits.free_disk_bytes >> 20} MiB of disk stayed free at {disk}"
    memory = _available_memory()
    if memory is not None and memory < limits.free_memory_bytes:
        return f"less than {limits.free_memory_bytes >> 20} MiB of the machine's memory stayed free"
    return ""


def _free_bytes(disk: Path) -> int | None:
    """Free bytes of the engine's file system; None where the engine's folder is not on this machine."""
    try:
        state = os.statvfs(disk)
    except OSError:
        return None
    return state.f_bavail * state.f_frsize


def _available_memory() -> int | None:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a client and what it started, first politely: it tells its engine."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        _wait(process, _END_SECONDS)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
