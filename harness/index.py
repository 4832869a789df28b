"""An index of the store for notebooks and programs: one Parquet row per run, derived, rebuildable, never trusted.

Nothing in the harness reads it: what counts is the records. Equal stores give equal bytes.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from harness.files import write_atomic
from harness.jobs import Job
from harness.layout import Layout
from harness.scoring import read_scores, scored_files
from harness.store import Store
from harness.vocabulary import Verdict

_TEXTS = ("key", "benchmark", "method", "variant", "parameters", "dataset", "split", "verdict", "reason")
_MORE_TEXTS = ("upstream", "accelerator", "image_tree", "dataset_digest", "split_digest", "started", "finished")
_NUMBERS = ("wall_s", "cpu_s", "peak_bytes")


def index_path(layout: Layout) -> Path:
    """Where the index lies."""
    return layout.local / "index.parquet"


def build_index(layout: Layout, path: Path | None = None) -> Path:
    """Read every record and its fresh scores, and write the index anew. Damaged runs are left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    store = Store(layout.runs)
    rows = [row for key in store.finished() if (row := _row(layout, store, key))]
    metrics = sorted({name for row in rows for name in row["metrics"]})
    columns: dict[str, Any] = {}
    for name in (*_TEXTS, *_MORE_TEXTS):
        columns[name] = pa.array([row[name] for row in rows], pa.string())
    columns["seed"] = pa.array([row["seed"] for row in rows], pa.int64())
    columns["inner_folds"] = pa.array([row["inner_folds"] for row in rows], pa.int64())
    for name in _NUMBERS:
        columns[name] = pa.array([row[name] for row in rows], pa.float64())
    for name in metrics:
        columns[name] = pa.array([row["metrics"].get(name) for row in rows], pa.float64())
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, compression="zstd")
    written = path or index_path(layout)
    write_atomic(written, stream.getvalue())
    return written


def _row(layout: Layout, store: Store, key: str) -> dict[str, Any] | None:
    standing = store.standing(key)
    content = standing.content
    if not content:
        return None
    planned, resources = content["planned"], content["resources"]
    job = Job.model_validate(planned["job"])
    is_result = standing.verdict is Verdict.OK
    scores = read_scores(layout, key, job.benchmark, scored_files(content["files"])) if is_result else None
    return {
        "key": key,
        "benchmark": job.benchmark,
        "method": job.method,
        "variant": job.variant,
        "parameters": json.dumps(job.parameters, sort_keys=True),
        "dataset": job.dataset,
        "split": job.split.text,
        "seed": job.split.seed,
        "inner_folds": job.inner_folds,
        "verdict": str(standing.verdict),
        "reason": standing.reason,
        "upstream": job.upstream,
        "accelerator": job.accelerator,
        "image_tree": planned["image_tree"],
        "dataset_digest": planned["dataset_digest"],
        "split_digest": planned["split_digest"],
        "started": content["started"],
        "finished": content["finished"],
        **{name: resources.get(name) for name in _NUMBERS},
        "metrics": scores.metrics if scores else {},
    }
