"""How long deciding what is left takes, the digest of every record included: 10,000 cells < 1 s, 100,000 < 10 s.

    python -m benchmarks.resume [--full] [--json]

`--full` fabricates 100,000 runs (about 3 GB and some minutes). The yardstick in the same process: reading the same
records and hashing their bytes, doing nothing else.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from pathlib import Path

from benchmarks.made_up import fill_store, made_up_plan
from harness.base.layout import Layout, find_layout
from harness.execution.campaign import left_to_run
from harness.methods.card import method_names
from harness.results.records import RECORD_FILE
from harness.results.store import Store, join

_LIMITS = {10_000: 1.0, 100_000: 10.0}


def measure(count: int) -> dict[str, float]:
    """Fabricate a store and time five decisions; the best counts, the machine being shared."""
    repository = find_layout(Path(__file__).parent)
    with tempfile.TemporaryDirectory(prefix="permafrost-resume-") as folder:
        layout = Layout(repository.root, repository.cache, Path(folder))
        plan = made_up_plan(count, method_names(repository))
        fill_store(layout, plan, scores=False)
        store = Store(layout.runs)
        times, spent = [], []
        for _ in range(5):
            began, used = time.perf_counter(), time.process_time()
            assert left_to_run(join(plan, store)) == [], "finished cells are not to be run again"
            times.append(time.perf_counter() - began)
            spent.append(time.process_time() - used)
        began = time.perf_counter()
        for cell in plan.cells:
            assert cell.planned is not None
            hashlib.sha256((store.path(cell.planned.key) / RECORD_FILE).read_bytes()).digest()
        yardstick = time.perf_counter() - began
    best = min(times)
    return {
        "cells": count,
        "seconds": round(best, 3),
        "cpu_seconds": round(min(spent), 3),
        "microseconds_per_cell": round(best / count * 1e6, 1),
        "limit_seconds": _LIMITS[count],
        "times_reading_and_hashing_alone": round(best / yardstick, 2),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="100,000 cells too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for count in (10_000, 100_000)[: 2 if options.full else 1]:
        figures = measure(count)
        if options.json:
            print(json.dumps(figures))
        else:
            within = "within" if figures["seconds"] < figures["limit_seconds"] else "BEYOND"
            print(
                f"{count:,} finished cells: {figures['seconds']} s, {within} {figures['limit_seconds']} s; "
                f"{figures['cpu_seconds']} s CPU, "
                f"{figures['times_reading_and_hashing_alone']} times reading and hashing the records alone"
            )


if __name__ == "__main__":
    main()
