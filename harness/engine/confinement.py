"""What the kernel really enforces on a container's first process, read on the machine while it lives.

What an engine was asked for is one thing; this is the other. Where the process cannot be seen (an engine in a
virtual machine) or has ended, nothing is claimed.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.engine.facts import EngineFacts
from harness.engine.walls import profile_digest

_FILTERED = 2
_PATIENCE = 1.0
_PAUSE = 0.005
# Behind these, the first process is the program's own; other runtimes put a process of theirs in front.
_PLAIN_RUNTIMES = ("", "runc", "crun", "nvidia", "io.containerd.runc.v2")


@dataclass(frozen=True)
class Confinement:
    """One reading of /proc/PID/status. `user` is the machine's number, whatever the container's says."""

    no_new_privileges: bool
    system_calls_filtered: bool
    capabilities: int
    user: int

    def as_json(self) -> dict[str, Any]:
        """Plain values for a record, with the profile that was asked for."""
        return {**asdict(self), "system_call_profile": profile_digest() if self.system_calls_filtered else ""}


def read_confinement(pid: int, *, patience: float = _PATIENCE) -> Confinement | None:
    """The confinement of a process. Waits for the filter of system calls, which is set last before it starts."""
    deadline = time.monotonic() + patience
    while True:
        confinement = confinement_in(_status(pid))
        if confinement is None or confinement.system_calls_filtered or time.monotonic() >= deadline:
            return confinement
        time.sleep(_PAUSE)


def confinement_in(status: str) -> Confinement | None:
    """The confinement in the text of /proc/PID/status; None where it is cut, or of a process that has ended."""
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    if not {"State", "NoNewPrivs", "Seccomp", "CapEff", "Uid"} <= fields.keys():
        return None
    if fields["State"].split()[0] in ("Z", "X"):
        return None
    return Confinement(
        no_new_privileges=fields["NoNewPrivs"].strip() == "1",
        system_calls_filtered=int(fields["Seccomp"]) == _FILTERED,
        capabilities=int(fields["CapEff"], 16),
        user=int(fields["Uid"].split()[1]),
    )


def broken_walls(confinement: Confinement | None, facts: EngineFacts) -> list[str]:
    """The walls that the engine reports and the kernel does not enforce, in words."""
    if confinement is None or facts.runtime not in _PLAIN_RUNTIMES:
        return []
    faults = [] if confinement.no_new_privileges else ["new privileges can be gained"]
    if facts.system_call_filter and not confinement.system_calls_filtered:
        faults.append("system calls are not filtered")
    if confinement.capabilities:
        faults.append(f"capabilities {confinement.capabilities:#x} are held")
    return faults


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
