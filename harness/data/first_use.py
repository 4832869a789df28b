"""Trust on first use: size and sha256 of files whose manifest has none are recorded at first sight, then enforced.

The record lies beside the manifest, in first_seen.json, where it may be committed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import ManifestError
from harness.base.files import read_json, sha256_of, write_json

if TYPE_CHECKING:
    from harness.data.manifest import DatasetManifest, SourceFile

RECORD = "first_seen.json"


def complete_manifest(manifest: DatasetManifest, folder: Path) -> DatasetManifest:
    """The manifest with the size and sha256 that were recorded of its files at first sight."""
    if all(file.recorded for file in manifest.files) or not (folder / RECORD).is_file():
        return manifest
    records = read_json(folder / RECORD)
    try:
        files = [
            file if file.recorded or file.name not in records else _known(file, records[file.name])
            for file in manifest.files
        ]
    except (TypeError, ValueError):
        raise ManifestError(
            "what was taken of files at first sight can't be read",
            where=str(folder / RECORD),
            todo=f"`harness data forget {manifest.name}` removes it; sizes and checksums are taken again",
        ) from None
    return manifest.model_copy(update={"files": files})


def take(file: SourceFile, path: Path, folder: Path) -> SourceFile:
    """Record size and sha256 of a file seen for the first time; returns the file with both."""
    record = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
    write_json(folder / RECORD, {**(read_json(folder / RECORD) or {}), file.name: record})
    return _known(file, record)


def _known(file: SourceFile, record: dict[str, Any]) -> SourceFile:
    return type(file).model_validate({**file.model_dump(), **record})
