"""What a Dask worker of the tests loads: where a container would run, it sleeps and stores a made-up record."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution import errands
from harness.execution.errands import Errand
from harness.planning.obstacles import Obstacles
from harness.results.records import Record
from harness.results.store import Store
from harness.upkeep import Examination, State, nodes
from tests.core.factories import record_of

MEANING = "the harness of a test"
SECONDS = float(os.environ.get("PERMAFROST_TEST_SLEEP", "0.1"))
# what is wrong with a worker: its disk is full, its engine fails each run, its harness is another
_DISK = os.environ.get("PERMAFROST_TEST_DISK")
_SICK = "PERMAFROST_TEST_SICK" in os.environ
_OLD = "PERMAFROST_TEST_OLD" in os.environ
ATTEMPTS = "attempts"
# while a file of this name lies in the folder of results, no run ends well
HOLD = "hold"


def sleep_here(errand: Errand, stop: threading.Event) -> tuple[Record, bool]:
    """Note the attempt, sleep, and store; a fault where the seed says so."""
    with (errand.layout.local / ATTEMPTS).open("a") as file:
        file.write(f"{errand.planned.key}\n")
    if errand.planned.job.split.seed == 13:
        raise ValueError("thirteen")
    stopped = stop.wait(SECONDS)
    while not (stopped or _SICK or _DISK) and (errand.layout.local / HOLD).exists():
        stopped = stop.wait(0.05)
    with tempfile.TemporaryDirectory(dir=_DISK) as folder:
        path = Path(folder) / "log.txt"
        path.write_text(f"seed {errand.planned.job.split.seed}\n")
        verdict = Verdict.INTERRUPTED if stopped else Verdict.INFRASTRUCTURE if _SICK else Verdict.OK
        record = record_of(errand.planned, verdict)
        stored = Store(errand.layout.runs).put(record, {"log.txt": path})
    Obstacles(errand.layout.runs).clear("run", errand.planned.key)
    return stored, True


def examine_here(layout: Layout, _mirrors: object, **_: object) -> Iterator[Examination]:
    """A machine without an engine."""
    yield Examination("engine", State.FAIL, f"none for {layout.local}", "start one")


def dask_setup(worker: object) -> None:
    """Called by a worker that preloads this module."""
    errands.attempt_here = sleep_here
    # what the whole harness means takes seconds to read, in each of so many processes
    vars(errands)["own_meaning"] = lambda: "an older harness" if _OLD else MEANING
    vars(nodes)["examine"] = examine_here
