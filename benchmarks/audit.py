"""CPU seconds of the audit of all stored runs of the smoke suite, and how many of them go into what is made again.

    python -m benchmarks.audit      the store is that of the repository, or of $PERMAFROST_RESULTS

First with no notes of earlier audits, then with them: only the second is what a person waits for every day.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.api import audit, open_repository


def main() -> None:
    """Print both, and the sum of the audit."""
    here = open_repository()
    with TemporaryDirectory() as folder:
        cache = Path(folder)
        for path in here.layout.cache.iterdir():
            # but for notes of splits and datasets all that is there, images that were read back included
            if path.name != "audit":
                (cache / path.name).symlink_to(path)
        fresh = replace(here, layout=replace(here.layout, cache=cache))
        for what in ("made again", "noted before"):
            before = time.process_time()
            report = audit(suite="smoke", progress=None, repository=fresh)
            seconds = time.process_time() - before
            print(f"{what}: {seconds:.1f} s of CPU, {report.audited} runs, {report.failed} failed")
        shutil.rmtree(cache / "audit", ignore_errors=True)


if __name__ == "__main__":
    main()
