"""An index of the store for notebooks and programs: one Parquet row per run, derived, rebuildable, never trusted.

Nothing in the harness reads it: what counts is the records. Equal stores give equal bytes.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.output_files import write_output
from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job
from harness.results.scoring import read_scores, scored_files
from harness.results.store import Store

log = logging.getLogger(__name__)

_TEXTS = (
    "key",
    "benchmark",
    "method",
    "variant",
    "parameters",
    "options",
    "dataset",
    "split",
    "verdict",
    "reason",
)
_MORE_TEXTS = ("upstream", "accelerator", "image_tree", "dataset_digest", "split_digest", "started", "finished")
_WHOLE_NUMBERS = ("seed",)
_NUMBERS = ("wall_s", "cpu_s", "peak_bytes")


@dataclass(frozen=True)
class RunIndex:
    """An index that was written: its number of runs, and the reason for each that was left out."""

    path: Path
    runs: int
    left_out: dict[str, str]


def index_path(layout: Layout) -> Path:
    """Where the index lies."""
    return layout.local / "index.parquet"


def build_index(layout: Layout, path: Path | None = None, keys: Collection[str] | None = None) -> RunIndex:
    """Read every record and its fresh scores, and write the index anew. Damaged runs are left out and named.

    With `keys` the index is of these runs alone.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    store = Store(layout.runs)
    chosen = [key for key in store.finished() if keys is None or key in keys]
    every = {key: _readable_row(layout, store, key) for key in chosen}
    rows = [row for row in every.values() if not isinstance(row, str)]
    metrics = sorted({name for row in rows for name in row["metrics"]})
    kinds = dict.fromkeys((*_TEXTS, *_MORE_TEXTS), pa.string())
    kinds |= {name: pa.int64() for name in _WHOLE_NUMBERS} | {name: pa.float64() for name in _NUMBERS}
    kinds |= dict.fromkeys(metrics, pa.float64())
    columns = {name: _column(rows, name, kind) for name, kind in kinds.items()}
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, compression="zstd")
    target = path or index_path(layout)
    write_output(target, stream.getvalue())
    return RunIndex(target, len(rows), {key: row for key, row in every.items() if isinstance(row, str)})


def _column(rows: list[dict[str, Any]], name: str, kind: Any) -> Any:
    """One column. A value that does not fit its type is left empty with a warning, for the sake of all others."""
    import pyarrow as pa

    values = [row[name] if name in row else row["metrics"].get(name) for row in rows]
    try:
        return pa.array(values, kind)
    except (TypeError, ValueError, OverflowError):
        return pa.array([_value(row, name, kind, value) for row, value in zip(rows, values, strict=True)], kind)


def _value(row: dict[str, Any], name: str, kind: Any, value: Any) -> Any:
    import pyarrow as pa

    try:
        pa.array([value], kind)
    except (TypeError, ValueError, OverflowError) as error:
        log.warning("%s: %s is left empty in the index: %s", row["key"], name, error)
        return None
    return value


def _readable_row(layout: Layout, store: Store, key: str) -> dict[str, Any] | str:
    """The row of one run, or why there is none."""
    try:
        return _row(layout, store, key)
    except (ValidationError, UsageError, KeyError, TypeError, ValueError, AttributeError) as error:
        return f"its record can't be read: {' '.join(str(error).split())}"


def _row(layout: Layout, store: Store, key: str) -> dict[str, Any] | str:
    standing = store.standing(key)
    content = standing.content
    if not content:
        return "it has no record" if standing.verdict is Verdict.PENDING else standing.reason
    planned, resources = content["planned"], content["resources"]
    job = Job.model_validate(planned["job"])
    is_result = standing.verdict is Verdict.OK
    scores = (
        read_scores(layout, key, job.benchmark, scored_files(job.benchmark, content["files"]))
        if is_result
        else None
    )
    return {
        "key": key,
        "benchmark": job.benchmark,
        "method": job.method,
        "variant": job.variant,
        "parameters": json.dumps(job.parameters, sort_keys=True),
        "options": json.dumps(job.options, sort_keys=True),
        "dataset": job.dataset,
        "split": job.split.text,
        "seed": job.split.seed,
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
