"""Trust on first use: size and sha256 of files whose manifest has none are recorded at first sight, then enforced.

They are recorded beside the manifest, in first_seen.json, which may be committed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import ManifestError
from harness.base.files import read_json, sha256_of, write_json

if TYPE_CHECKING:
    from harness.data.manifest import DatasetManifest, SourceFile

RECORD = "first_seen.json"


def completed(manifest: DatasetManifest, folder: Path) -> DatasetManifest:
    """The manifest, completed by the sizes and checksums that were recorded at first sight."""
    if all(file.recorded for file in manifest.files) or not (folder / RECORD).is_file():
        return manifest
    record = read_json(folder / RECORD)
    try:
        files = [
            file if file.recorded or file.name not in record else _known(file, record[file.name])
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
    """The file with its size and sha256, which are recorded for every later use."""
    values = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
    write_json(folder / RECORD, {**(read_json(folder / RECORD) or {}), file.name: values})
    return _known(file, values)


def _known(file: SourceFile, values: dict[str, Any]) -> SourceFile:
    return type(file).model_validate({**file.model_dump(), **values})
