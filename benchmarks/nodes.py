"""The time of three nodes beside that of one, for a campaign of equal runs that sleep: no processor decides.

Each node is a Dask worker, a process that runs two at a time. Wanted: at most 0.4 times. Needs
requirements/cluster.lock.

    python -m benchmarks.nodes [--runs 60] [--seconds 1]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from benchmarks.cluster import campaign
from tests.campaigns.machines import Machines
from tests.campaigns.sleeping import MEANING

WANTED = 0.4


def seconds_of(nodes: int, *, runs: int, seconds: float) -> float:
    """Wall seconds of a campaign on so many nodes, from the command to the last record."""
    with tempfile.TemporaryDirectory() as name:
        machines = Machines(Path(name))
        try:
            machines.add(seconds=seconds, count=nodes)
            began = time.monotonic()
            campaign(machines, Path(name), runs)
            return time.monotonic() - began
        finally:
            machines.close()


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=1.0)
    chosen = parser.parse_args()
    with (
        patch("harness.execution.campaign.own_meaning", lambda: MEANING),
        patch("harness.execution.cluster.own_meaning", lambda: MEANING),
    ):
        one, three = (seconds_of(nodes, runs=chosen.runs, seconds=chosen.seconds) for nodes in (1, 3))
    print(f"{chosen.runs} runs of {chosen.seconds:.0f} s: one node {one:.1f} s, three nodes {three:.1f} s")
    print(f"three nodes: {three / one:.2f} of one node's time (wanted: at most {WANTED})")


if __name__ == "__main__":
    main()
