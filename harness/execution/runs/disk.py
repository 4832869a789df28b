"""How much a run has written, deleted files included, and whether the disk under all runs bears more.

No quota is set: project quotas can be left by whoever owns a file, memory file systems are charged to the method's
memory, and a mount of our own would outlive a killed harness. So output is looked at while it grows, a reserve is
kept free, and no run is started before what the others may still write has room.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

from harness.base.machine import has_room_for_files, room_on
from harness.execution.runs.request import Limits
from harness.execution.runs.workspace import Workspace, size_of

# no honest method has as many; looking at more would cost the harness its time
_MOST_HANDLES = 100_000


def output_fault(
    workspace: Workspace, limits: Limits, processes: Iterable[int] = (), *, ended: bool = False
) -> str:
    """Why the output is too large; empty when it is not. `processes` may hold files that /out no longer shows."""
    total, entries = size_of(workspace.out, most_files=limits.output_files, ended=ended)
    deleted_bytes, files = _deleted_files(processes, workspace.out.stat().st_dev)
    remark = f", {deleted_bytes} of them in deleted files that it holds open" if deleted_bytes else ""
    # a single file cannot grow beyond the limit, so reaching it means that more was wanted
    if total + deleted_bytes >= limits.output_bytes:
        return f"wrote {total + deleted_bytes} bytes to /out{remark}; the limit is {limits.output_bytes}"
    if entries + files > limits.output_files:
        return f"made more than {limits.output_files} files and folders in /out"
    return ""


def disk_fault(workspace: Workspace) -> str:
    """Why the disk under a workspace is full, whoever filled it; empty when it is not."""
    folder = workspace.folder.parent
    if (room := room_on(folder)) < 0:
        return f"the disk under {folder} is full: {-(room >> 20)} MiB more must stay free"
    if not has_room_for_files(folder):
        return f"the disk under {folder} has no room for more files"
    return ""


def _deleted_files(processes: Iterable[int], device: int) -> tuple[int, int]:
    """(bytes, files) that these processes keep on a device though no folder names them any more."""
    sizes: dict[int, int] = {}
    for number, path in enumerate(_handles(processes)):
        if number > _MOST_HANDLES:
            break
        with suppress(OSError):
            state = os.stat(path)  # noqa: PTH116 (many, at each look: texts are faster than Path objects)
            if stat.S_ISREG(state.st_mode) and state.st_nlink == 0 and state.st_dev == device:
                sizes[state.st_ino] = max(state.st_size, state.st_blocks * 512)
    return sum(sizes.values()), len(sizes)


def _handles(processes: Iterable[int]) -> Iterator[str]:
    """Links to what processes have open or mapped, thread by thread: a thread can have a table of its own."""
    for process in processes:
        folders = [f"/proc/{process}/map_files"]
        with suppress(OSError), os.scandir(f"/proc/{process}/task") as threads:
            folders += [f"{thread.path}/fd" for thread in threads]
        for folder in folders:
            # a process may end at any time; another user's can't be looked into
            with suppress(OSError), os.scandir(folder) as entries:
                yield from (entry.path for entry in entries)
