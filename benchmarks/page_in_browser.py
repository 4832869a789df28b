"""How long the largest page takes in a browser: the first paint < 1 s, a jump to any section < 0.3 s.

    python -m benchmarks.page_in_browser [--page FILE] [--json]

The page is that of the suite `full` with the reference results, or the one that is named. A jump lasts from the
click on a link until the frame in which its section stands below the line of links.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from harness import api
from tests.report.devtools import opened

_PAINT_SECONDS, _JUMP_SECONDS = 1.0, 0.3
_OPENINGS = 5
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
_JUMP = """(link => { const began = performance.now(), name = link.hash.slice(1), frame = requestAnimationFrame;
  link.click();
  return new Promise(done => frame(() => frame(() => done([name, (performance.now() - began) / 1000,
    document.getElementById(name).getBoundingClientRect().top])))); })"""


def measure(page: Path) -> dict[str, Any]:
    """The median first paint of five openings; the slowest jump, and how far from its section any jump ends."""
    with tempfile.TemporaryDirectory(prefix="permafrost-browser-") as profile, opened(Path(profile)) as tab:
        tab.look(moving=True)
        paints = []
        for _ in range(_OPENINGS):
            tab.go(page.as_uri())
            paints.append(float(tab.evaluate(_PAINT)))
        links = tab.evaluate("document.querySelectorAll('nav a').length")
        jumps = [tab.evaluate(f"{_JUMP}(document.querySelectorAll('nav a')[{at}])") for at in range(links)]
        cells = tab.evaluate("cells.length")
        nodes = tab.evaluate("document.querySelectorAll('*').length")
    return {
        "cells": cells,
        "elements": nodes,
        "megabytes": round(page.stat().st_size / 1e6, 1),
        "first_paint_seconds": round(median(paints), 2),
        "limit_first_paint_seconds": _PAINT_SECONDS,
        "slowest_jump_seconds": round(max(seconds for _, seconds, _ in jumps), 3),
        "limit_jump_seconds": _JUMP_SECONDS,
        "pixels_from_the_top": {name: round(top) for name, _, top in jumps},
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="a page that was made before")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="permafrost-page-") as folder:
        page = options.page or api.report(
            api.status(api.plan(suite="full"), reference=True), Path(folder) / "full.html"
        )
        figures = measure(page.absolute())
    if options.json:
        print(json.dumps(figures))
        return
    print(
        f"a page of {figures['cells']:,} cells, {figures['megabytes']} MB: first paint after "
        f"{figures['first_paint_seconds']} s (wanted: {_PAINT_SECONDS}), the slowest jump "
        f"{figures['slowest_jump_seconds']} s (wanted: {_JUMP_SECONDS})"
    )
    print("pixels from the top of the window: ", figures["pixels_from_the_top"])


if __name__ == "__main__":
    main()
