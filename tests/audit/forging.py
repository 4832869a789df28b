"""Forging for the tests of the audit: records that vouch for what was changed, and processes that forget."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.audit.steps import Audit, Checked
from harness.base.files import digest_of, sha256_of, write_json
from harness.base.layout import Layout
from harness.data.arrays import _read as read_dataset
from harness.planning.plan import Plan
from harness.results.scoring import scores_path
from harness.results.store import Store
from harness.splits.splits import _read as read_split
from tests.fabricate import planned_of


def broken(audit: Audit) -> list[str]:
    """The links that do not hold."""
    return [step.name for step in audit.steps if step.checked is Checked.FAILED]


def folder_of(layout: Layout, plan: Plan) -> Path:
    """Where the first run of a plan lies."""
    return Store(layout.runs).path(planned_of(plan.cells[0]).key)


def forge_record(layout: Layout, plan: Plan, change: Callable[[dict[str, Any]], object], cell: int = 0) -> Path:
    """Rewrite a run's record, the first one's, so that it agrees with its files and its own digest."""
    folder = Store(layout.runs).path(planned_of(plan.cells[cell]).key)
    record = json.loads((folder / "record.json").read_text())
    del record["digest"]
    for name, stored in record["files"].items():
        stored.update(sha256=sha256_of(folder / name), bytes=(folder / name).stat().st_size)
    change(record)
    write_json(folder / "record.json", {**record, "digest": digest_of(record)})
    return folder / "record.json"


def forge_absence(layout: Layout, plan: Plan, name: str, cell: int = 0) -> Path:
    """A run without one of its files, which the record does not name either."""
    folder = Store(layout.runs).path(planned_of(plan.cells[cell]).key)
    (folder / name).unlink()
    path = folder / "record.json"
    record = json.loads(path.read_text())
    del record["files"][name]
    path.write_text(json.dumps(record))
    return forge_record(layout, plan, lambda record: None, cell)


def forge_job(layout: Layout, plan: Plan, change: Callable[[dict[str, Any]], object], cell: int = 0) -> Path:
    """Another job document than the container's, which the record vouches for."""
    path = Store(layout.runs).path(planned_of(plan.cells[cell]).key) / "job.json"
    document = json.loads(path.read_text())
    change(document)
    write_json(path, document)
    forge_record(layout, plan, lambda record: None, cell)
    return path


def forge_plan(layout: Layout, plan: Plan, cell: int = 0, **changed: Any) -> str:
    """The same run under the key of another plan, as a forger makes it who knows how keys are made."""
    store = Store(layout.runs)
    record = store.record(planned_of(plan.cells[cell]).key)
    planned = record.planned.model_copy(update=changed)
    target = store.path(planned.key)
    target.parent.mkdir(parents=True, exist_ok=True)
    store.path(record.key).rename(target)
    write_json(
        target / "record.json", record.model_copy(update={"key": planned.key, "planned": planned}).to_json()
    )
    return planned.key


def forge_scores(layout: Layout, plan: Plan, change: Callable[[dict[str, Any]], object]) -> Path:
    """Other scores of the first run, under a digest of their own."""
    path = scores_path(layout, planned_of(plan.cells[0]).key)
    content = json.loads(path.read_text())
    del content["digest"]
    change(content)
    write_json(path, {**content, "digest": digest_of(content)})
    return path


def refresh() -> None:
    """Forget what this process has read, as a new process would: caches go by time stamp, tests are faster."""
    read_dataset.cache_clear()
    read_split.cache_clear()
