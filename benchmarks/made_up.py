"""A store of many made-up finished runs, written fast: files and records as of real runs, without the fsyncs."""

from __future__ import annotations

import json
from pathlib import Path

from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell
from harness.planning.jobs import Job, PlannedJob, complete_options
from harness.planning.plan import Plan
from harness.results.records import RECORD_FILE, Record, StoredFile
from harness.results.scoring import Scores, scored_files, scorer_digest, scores_path
from harness.results.store import Store
from harness.splits.spec import SplitSpec

_BENCHMARK = "repurposing"
_FILES = ("job.json", "log.txt", "lowest.npy", "method.json", "predictions.npy", "validation.npy")
_LOG = "".join(f"iteration {number}: residual {1 / (number + 1):.6f}\n" for number in range(40)).encode()


def made_up_plan(count: int, methods: list[str]) -> Plan:
    """`count` cells of several methods, datasets and seeds, pinned by made-up checksums."""
    datasets = ("synthetic", "fdataset", "cdataset", "hdvd")
    cells, options = [], complete_options(_BENCHMARK, {})
    for number in range(count):
        method = methods[number % len(methods)]
        dataset = datasets[number // len(methods) % len(datasets)]
        seed = number // len(methods) // len(datasets) + 1
        job = Job(
            benchmark=_BENCHMARK,
            method=method,
            dataset=dataset,
            split=SplitSpec(strategy="random", seed=seed),
            options=options,
        )
        planned = PlannedJob(
            job=job,
            image_tree=digest_of(method),
            dataset_digest=digest_of(dataset),
            split_digest=digest_of([dataset, seed]),
        )
        cells.append(Cell(job, planned))
    return Plan("made-up", tuple(cells))


def fill_store(layout: Layout, plan: Plan, *, scores: bool) -> None:
    """A finished run for every cell; every 50th failed."""
    store, scorer = Store(layout.runs), scorer_digest(_BENCHMARK)
    for number, cell in enumerate(plan.cells):
        assert cell.planned is not None
        failed = number % 50 == 0
        record = record_of(cell.planned, failed=failed)
        folder = store.path(record.key)
        folder.mkdir(parents=True)
        for name, stored in record.files.items():
            (folder / name).write_bytes(_LOG if name == "log.txt" else b"x" * stored.bytes)
        text = json.dumps(record.to_json(), sort_keys=True, indent=2)
        (folder / RECORD_FILE).write_text(text)
        if scores and not failed:
            _write_scores(layout, record, scorer, number)


def record_of(planned: PlannedJob, *, failed: bool) -> Record:
    """The record of a made-up run."""
    key = planned.key
    sizes = {name: len(_LOG) if name == "log.txt" else 64 for name in _FILES[: 2 if failed else None]}
    return Record(
        key=key,
        planned=planned,
        verdict=Verdict.ERROR if failed else Verdict.OK,
        reason="exit code 3: a matrix is singular" if failed else "finished with valid predictions",
        image={
            "name": f"localhost/permafrost/{planned.job.method}:{planned.image_tree[:16]}",
            "id": f"sha256:{digest_of(planned.image_tree)}",
            "environment_tree": digest_of("environment"),
            "code_tree": digest_of("code"),
        },
        limits={"seconds": 7200, "memory_bytes": 2 << 30, "processes": 64, "output_bytes": 1 << 30, "cpus": 1},
        resources={
            "exit_code": 3 if failed else 0,
            "oom_flag": False,
            "oom_kills": 0,
            "wall_s": 12.3,
            "cpu_s": 11.2,
            "peak_bytes": 123_456_789,
            "memory_limit_enforced": True,
            "log_bytes": len(_LOG),
            "log_cut_bytes": 0,
            "output_bytes": 1_500_000,
            "ignored": [],
            "warnings": [],
            "reported": {
                "protocol": 1,
                "seconds": {"fit": [2.0] * 5, "predict": [0.1] * 5},
                "iterations": [60] * 5,
            },
        },
        engine={"name": "docker", "version": "20.10.24", "rootless": False, "memory_limit_enforced": True},
        files={name: StoredFile(sha256=digest_of([key, name]), bytes=size) for name, size in sizes.items()},
        attempts=1,
        started="2026-01-01T00:00:00+00:00",
        finished="2026-01-01T00:00:12Z",
        harness_version="0.1.0",
    )


def _write_scores(layout: Layout, record: Record, scorer: str, number: int) -> None:
    from harness import benchmarks

    path: Path = scores_path(layout, record.key)
    metrics: dict[str, float | None] = {
        metric.name: 0.5 + (number % 1000) / 2001 for metric in benchmarks.get(_BENCHMARK).scoring.metrics
    }
    scores = Scores(record.key, scorer, scored_files(_BENCHMARK, record.to_json()["files"]), metrics, {})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(scores.to_json()))
