"""One campaign on a Dask cluster in which worker, scheduler or client are killed sixty times.

Afterwards every run is stored once, whole, and as the log says. Where a container would run, a worker sleeps. How
often engines are killed is told by tests/campaigns/test_interruption.py. Needs requirements/cluster.lock.

    python -m benchmarks.kills [--kills 60] [--runs 2000] [--seed 60]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from harness.base.layout import Layout
from tests.campaigns.killing import besiege
from tests.campaigns.on_a_cluster import attempts, check, plan_with
from tests.conftest import REPOSITORY

# on a busy machine a cluster takes half a minute to start again
_LIMIT_S = 3600.0


def main() -> None:
    """Run it, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=60)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, plan, began = Path(name), plan_with(chosen.runs), time.monotonic()
        killed = besiege(folder, plan, kills=chosen.kills, seed=chosen.seed, seconds=0.5, limit_s=_LIMIT_S)
        layout = Layout(root=REPOSITORY, cache=folder / "cache", local=folder / "local")
        check(layout, plan)
        repeated = sum(attempts(layout).values()) - chosen.runs
    if killed.total() < chosen.kills:
        print(f"only {killed.total()} of {chosen.kills} kills: the campaign ended before; give more --runs")
    what = ", ".join(f"{count} {kind}" for kind, count in sorted(killed.items()))
    print(f"{killed.total()} kills ({what}) in {time.monotonic() - began:.0f} s")
    print(f"{chosen.runs} runs: each stored once, none lost, log and files agree; {repeated} begun again")


if __name__ == "__main__":
    main()
