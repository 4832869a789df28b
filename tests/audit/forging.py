"""Forging for the tests of the audit: records that vouch for what was changed, and processes that forget."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.data.kept import _read as read_dataset
from harness.files import digest_of, sha256_of, write_json
from harness.layout import Layout
from harness.plan import Plan
from harness.splits.splits import _read as read_split
from harness.store import Store
from tests.fabricate import planned_of


def forge_record(layout: Layout, plan: Plan, change: Callable[[dict[str, Any]], None]) -> Path:
    """Rewrite the first run's record so that it agrees with its files and its own digest."""
    folder = Store(layout.runs).path(planned_of(plan.cells[0]).key)
    record = json.loads((folder / "record.json").read_text())
    del record["digest"]
    for name, stored in record["files"].items():
        stored.update(sha256=sha256_of(folder / name), bytes=(folder / name).stat().st_size)
    change(record)
    write_json(folder / "record.json", {**record, "digest": digest_of(record)})
    return folder / "record.json"


def refresh() -> None:
    """Forget what this process has read, as a new process would: caches go by time stamp, tests are faster."""
    read_dataset.cache_clear()
    read_split.cache_clear()
