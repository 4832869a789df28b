"""What a campaign on a Dask cluster costs beside the same number of tasks that do nothing.

All go through the same scheduler to the same workers, as many at a time. Where a container would run, a worker
stores a made-up record at once. Measured: CPU of the scheduler for each, wall time, and the client's memory.
Wanted: at most 1.1 times the scheduler's CPU. What of the rest is the scheduler's own is told by tasks that do
nothing and, as a run does, need resources and give an answer. Needs requirements/cluster.lock.

    python -m benchmarks.cluster [--runs 1000] [--workers 2]
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from distributed import Client, Future, as_completed

from harness.base.layout import Layout
from harness.execution.campaign import run_cells_on
from harness.execution.cluster import CPUS, MEMORY, open_cluster
from harness.results.store import Store, join
from tests.campaigns.machines import Machines
from tests.campaigns.on_a_cluster import plan_with
from tests.campaigns.sleeping import MEANING
from tests.conftest import REPOSITORY

WANTED = 1.1
_NOTHING, _RUNS = "tasks that do nothing", "runs"
_LIKE_RUNS = "tasks that do nothing, need resources, and give an answer"


def nothing(number: int) -> int:
    """A task that does nothing."""
    return number


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process up to now."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def no_ops(client: Client, runs: int, window: int, *, like_runs: bool = False) -> None:
    """So many tasks, a window of them at a time; `like_runs` need resources, and what they give is taken."""
    resources = {CPUS: 1.0, MEMORY: 1.0} if like_runs else None

    def submitted(number: int) -> Future:
        return client.submit(nothing, number, pure=False, resources=resources)

    out = as_completed(map(submitted, range(window)), loop=client.loop)
    begun = window
    for future in out:
        if like_runs:
            future.result()
        if begun < runs:
            out.add(submitted(begun))
            begun += 1


def campaign(machines: Machines, folder: Path, runs: int) -> None:
    """So many runs, all of which must be in the store."""
    layout = Layout(root=REPOSITORY, cache=folder / "cache", local=folder / "local")
    layout.local.mkdir()
    plan = plan_with(runs)
    with open_cluster(machines.address, logs=folder) as cluster:
        run_cells_on(cluster, layout, join(plan, Store(layout.runs), records=True), name=plan.name)
    if len(list(Store(layout.runs).finished())) != runs:
        raise SystemExit("runs are missing")


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        patch("harness.execution.campaign.own_meaning", lambda: MEANING),
        patch("harness.execution.cluster.own_meaning", lambda: MEANING),
    ):
        folder = Path(name)
        machines = Machines(folder)
        try:
            machines.add(seconds=0.0, count=chosen.workers)
            measured = {}
            with Client(machines.address, set_as_default=False) as client:
                for what in (_NOTHING, _LIKE_RUNS, _RUNS):
                    began, cpu = time.monotonic(), cpu_seconds(machines.scheduler.pid)
                    if what == _RUNS:
                        campaign(machines, folder, chosen.runs)
                    else:
                        no_ops(client, chosen.runs, 4 * chosen.workers, like_runs=what == _LIKE_RUNS)
                    measured[what] = cpu_seconds(machines.scheduler.pid) - cpu
                    wall = time.monotonic() - began
                    each = 1000 * measured[what] / chosen.runs
                    print(f"{chosen.runs} {what}: {wall:.1f} s; {each:.2f} ms of the scheduler's CPU each")
        finally:
            machines.close()
    for what, wanted in ((_NOTHING, f" (wanted: at most {WANTED})"), (_LIKE_RUNS, "")):
        print(f"scheduler: {measured[_RUNS] / measured[what]:.2f} times {what}{wanted}")
    print(f"client: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB at most")


if __name__ == "__main__":
    main()
