"""Notes in JSON Lines: `{"id": ..., "text": ..., "subject": ...}` on each line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from harness.benchmarks.notes.dataset import Notes

from harness.data.manifest import DatasetManifest


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> Notes:
    """Read every file, one after the other."""
    rows = [json.loads(line) for path in files.values() for line in path.read_text(encoding="utf-8").splitlines()]
    columns = ([str(row.get(key, "")) for row in rows] for key in ("id", "text", "subject"))
    return Notes(manifest.name, *(tuple(column) for column in columns))
