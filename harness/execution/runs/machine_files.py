"""What a container is shown of the machine: small files of the run's own in the place of the kernel's.

The kernel's would tell what the whole machine does. These tell the run's limits and stand still; each run has its
own copies, because two containers can talk through any file that both can open.
"""

from __future__ import annotations

from pathlib import Path

from harness.execution.runs.request import Limits, Mount

_TARGETS = {
    "meminfo": "/proc/meminfo",
    "stat": "/proc/stat",
    "uptime": "/proc/uptime",
    "loadavg": "/proc/loadavg",
    "resolv.conf": "/etc/resolv.conf",
}


def show(place: Path, limits: Limits) -> None:
    """Write the files of one run into `place`."""
    kibibytes = limits.memory_bytes >> 10
    texts = {
        "meminfo": "".join(
            f"{name + ':':<16}{value:>8} kB\n"
            for name, value in (
                ("MemTotal", kibibytes),
                ("MemFree", kibibytes),
                ("MemAvailable", kibibytes),
                ("Buffers", 0),
                ("Cached", 0),
                ("SwapTotal", 0),
                ("SwapFree", 0),
            )
        ),
        "stat": f"cpu {' 0' * 10}\nintr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n",
        "uptime": "0.00 0.00\n",
        "loadavg": "0.00 0.00 0.00 1/1 1\n",
        "resolv.conf": "",
    }
    place.mkdir(mode=0o755, exist_ok=True)
    for name, text in texts.items():
        path = place / name
        path.write_text(text, encoding="ascii")
        path.chmod(0o444)


def shown_mounts(place: Path) -> list[Mount]:
    """The mounts that put these files in the place of the kernel's."""
    return [Mount(place / name, target) for name, target in _TARGETS.items()]
