"""How long the status page of 5,000 finished cells takes, from an empty process to a written file: < 3 s.

    python -m benchmarks.status_page [--cells N] [--keep FILE] [--json]

The page is made in a process of its own, so that imports count.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.made_up import fill_store, made_up_plan
from harness.base.layout import Layout, find_layout
from harness.methods.card import method_names

_LIMIT_SECONDS = 3.0
_MAKE = """
import gc
import sys
from pathlib import Path
from benchmarks.made_up import made_up_plan
from harness.base.layout import Layout, find_layout
from harness.methods.card import method_names
from harness.results.store import join
from harness.report import write_report
from harness.results.store import Store
from harness.status import build_table
gc.disable()  # as `harness report` does
repository = find_layout(Path(sys.argv[3]))
layout = Layout(repository.root, repository.cache, Path(sys.argv[1]))
plan, store = made_up_plan(int(sys.argv[2]), method_names(repository)), Store(layout.runs)
write_report(layout, build_table(layout, store, plan, join(plan, store, records=True)))
"""


def measure(count: int, keep: Path | None) -> dict[str, float]:
    """Fabricate a store, then make the page three times; the best counts, the machine being shared."""
    root = Path(__file__).resolve().parent.parent
    repository = find_layout(root)
    with tempfile.TemporaryDirectory(prefix="permafrost-page-") as folder:
        layout = Layout(repository.root, repository.cache, Path(folder))
        fill_store(layout, made_up_plan(count, method_names(repository)), scores=True)
        times, spent = [], []
        for _ in range(3):
            began, used = time.perf_counter(), _cpu_of_children()
            subprocess.run([sys.executable, "-c", _MAKE, folder, str(count), str(root)], cwd=root, check=True)
            times.append(time.perf_counter() - began)
            spent.append(_cpu_of_children() - used)
        page = layout.local / "report.html"
        assert re.search(r"\d\.\d{4} ± \d", page.read_text()), "the page shows no scores"
        size = page.stat().st_size
        if keep:
            shutil.copyfile(page, keep)
    return {
        "cells": count,
        "seconds": round(min(times), 2),
        "cpu_seconds": round(min(spent), 2),
        "limit_seconds": _LIMIT_SECONDS,
        "megabytes": size / 1e6,
    }


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--keep", type=Path, help="keep the page, to look at it")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.cells, options.keep)
    if options.json:
        print(json.dumps(figures))
        return
    within = "within" if figures["seconds"] < figures["limit_seconds"] else "BEYOND"
    print(
        f"a page of {figures['cells']:,} cells: {figures['seconds']} s, {within} {figures['limit_seconds']} s, "
        f"{figures['cpu_seconds']} s CPU, {figures['megabytes']:.1f} MB"
    )


if __name__ == "__main__":
    main()
