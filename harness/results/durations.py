"""How long runs took that are in the reference results: what a plan's hours are estimated from."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable
from statistics import median

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.planning.jobs import Job
from harness.planning.needs import RunKind, run_kind
from harness.results.reference import reference_folder


def reference_seconds(layout: Layout, jobs: Iterable[Job]) -> dict[RunKind, float]:
    """The median CPU seconds of committed runs of the same method, variant and dataset, on the CPU.

    Lines are read and not checked: this is an estimate, and a plan of everything must not wait for digests.
    """
    folders = {run_kind(job): reference_folder(layout, job) for job in jobs if job.accelerator == "cpu"}
    seconds: dict[RunKind, list[float]] = {}
    for path in (path for folder in {*folders.values()} for path in folder.glob("*.jsonl.gz")):
        try:
            records = [json.loads(line)["record"] for line in gzip.decompress(path.read_bytes()).splitlines()]
            for record in records:
                job, used = record["planned"]["job"], record["resources"]
                kind = (job["method"], job["variant"], job["dataset"])
                # None where the kernel could not be read
                spent = used.get("wall_s") if used.get("cpu_s") is None else used["cpu_s"]
                if kind in folders and spent is not None:
                    if not math.isfinite(spent := float(spent)):
                        raise ValueError("no time")
                    seconds.setdefault(kind, []).append(spent)
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
            raise CorruptData(
                "a file of reference results can't be read", where=str(path), todo="restore it (git checkout)"
            ) from None
    return {kind: median(values) for kind, values in seconds.items()}
