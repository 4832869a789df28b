"""Records and stores made up for tests, through the same functions the product uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job, PlannedJob, complete_options
from harness.results.records import Record
from harness.results.store import Store
from harness.splits.spec import SplitSpec


def planned_job(seed: int = 1, method: str = "constant", dataset: str = "synthetic") -> PlannedJob:
    """A planned job that exists nowhere."""
    return PlannedJob(
        job=Job(
            benchmark="repurposing",
            method=method,
            dataset=dataset,
            split=SplitSpec(strategy="random", seed=seed),
            options=complete_options("repurposing", {}),
        ),
        image_tree="1" * 64,
        dataset_digest="2" * 64,
        split_digest="3" * 64,
    )


def record_of(planned: PlannedJob, verdict: Verdict = Verdict.OK, reason: str = "") -> Record:
    """A record without files."""
    return Record(
        key=planned.key,
        planned=planned,
        verdict=verdict,
        reason=reason or verdict.meaning,
        image={"name": "permafrost/constant:1", "id": "sha256:" + "4" * 64},
        limits={"seconds": 60, "memory_bytes": 1 << 30},
        resources={"wall_seconds": 1.5, "cpu_seconds": 1.0, "peak_memory_bytes": 1 << 20},
        engine={"name": "docker"},
        files={},
        attempts=1,
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T00:00:02Z",
        harness_version="0",
    )


def put_run(
    store: Store, planned: PlannedJob, folder: Path, verdict: Verdict = Verdict.OK, *, again: bool = False
) -> Record:
    """Store a made-up run with two files."""
    folder.mkdir(parents=True, exist_ok=True)
    log, predictions = folder / "log.txt", folder / "predictions.npy"
    log.write_text("a line\n")
    predictions.write_bytes(b"not really an array")
    files = {"log.txt": log, "predictions.npy": predictions}
    return store.put(record_of(planned, verdict), files, again=again)


def job_like(**changed: Any) -> Job:
    """The usual job with other fields."""
    return planned_job().job.model_copy(update=changed)
