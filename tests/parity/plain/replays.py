"""Runs in a frozen image: the jobs below /jobs, each by its method's own main file in a process of its own.

All of them are forked from one that has loaded what takes long. Arguments: what to load, and METHOD=PATH:PATH.
"""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

import torch


def replay(job: Path, method: str, path: list[str]) -> None:
    """What it says goes to a file beside its answer."""
    with (job / "said").open("w") as said:
        os.dup2(said.fileno(), 2)
    os.environ |= {"PERMAFROST_IN": str(job / "in"), "PERMAFROST_OUT": str(job / "out")}
    sys.path[:0] = path
    runpy.run_path(f"/methods/{method}/main.py", run_name="__main__")


def failed(*error: Any) -> None:
    """Leaves at once, as success does: to take apart what was loaded takes as long as a replay."""
    traceback.print_exception(*error)
    os._exit(1)


library, *methods = sys.argv[1:]
# whoever runs the tests is another user, and removes what is left here
os.umask(0)
importlib.import_module(library)
# the first step of an optimiser loads more; no gradient is computed here, for which there would be threads
weight = torch.nn.Parameter(torch.zeros(1))
weight.grad = torch.zeros(1)
torch.optim.AdamW([weight], fused=True).step()
gc.freeze()
paths = {name: told.split(":") for name, _, told in (one.partition("=") for one in methods)}
for job in sorted(Path("/jobs").glob("*/*")):
    process = os.fork()
    if not process:
        sys.excepthook = failed
        replay(job, job.parent.name, paths[job.parent.name])
        os._exit(0)
    _, status = os.waitpid(process, 0)
    (job / "code").write_text(str(os.waitstatus_to_exitcode(status)))
