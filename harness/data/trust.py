"""Files whose content nobody could record are believed only when what was made of them passed every check.

Until then nothing is recorded: a log-in page or a cut file never becomes the recorded content.
"""

from __future__ import annotations

import csv
import fcntl
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import CorruptData, DataError
from harness.base.files import read_json, sha256_of, write_json
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.data.manifest import FIRST_SEEN, DatasetManifest, SourceFile, check_known, manifest_path
from harness.data.own_tables import brought_folder
from harness.data.sources import cache_path

# what converters and the libraries below them raise over a file that is another than they expect
_UNREADABLE = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, OSError, SyntaxError, TypeError, ValueError),
    *(csv.Error, struct.error, zipfile.BadZipFile, zlib.error),
)


@contextmanager
def alone_at_first_sight(layout: Layout, manifest: DatasetManifest) -> Iterator[None]:
    """Let one process at a time take a dataset's files that nobody has recorded: the next one finds its record."""
    if all(file.recorded for file in manifest.files):
        yield
        return
    lock = layout.cache / "data" / f"first-sight-of-{manifest.name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as stream:
        with activity(f"waiting for another harness, which gets dataset {manifest.name}"):
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def seen_first(layout: Layout, manifest: DatasetManifest, files: Mapping[str, Path]) -> Iterator[None]:
    """Record the unrecorded files of a dataset if the block, which converts and checks them, ends well.

    Otherwise those that were downloaded are thrown away, so that the next try asks for them again.
    """
    unrecorded = [file for file in manifest.files if not file.recorded]
    if not unrecorded:
        yield
        return
    downloads = {cache_path(layout, file) for file in unrecorded}
    try:
        yield
    except (DataError, *_UNREADABLE) as error:
        for path in downloads & set(files.values()):
            path.unlink(missing_ok=True)
        what = error.what if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        raise CorruptData(
            f"dataset '{manifest.name}' can't be made of {', '.join(file.name for file in unrecorded)}, "
            f"whose content nobody has recorded: {what}",
            where="\n         ".join(str(files[file.name]) for file in unrecorded),
            todo="nothing was recorded and downloads were thrown away; see that the addresses give the files and "
            f"no web page, or put the right ones into {brought_folder(layout, manifest.name)}",
        ) from error
    for file in unrecorded:
        known = _take(file, files[file.name], manifest_path(layout, manifest.name).parent)
        if files[file.name] in downloads:
            place = cache_path(layout, known)
            place.parent.mkdir(parents=True, exist_ok=True)
            files[file.name].replace(place)


def forget(layout: Layout, name: str) -> list[str]:
    """Delete what was recorded of a dataset's files at first sight; returns their names."""
    check_known(layout, [name])
    record = manifest_path(layout, name).parent / FIRST_SEEN
    files = read_json(record)
    record.unlink(missing_ok=True)
    return sorted(files) if isinstance(files, dict) else []


def _take(file: SourceFile, path: Path, folder: Path) -> SourceFile:
    """Record size and sha256 of a file seen for the first time; returns the file with both."""
    record = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
    write_json(folder / FIRST_SEEN, {**(read_json(folder / FIRST_SEEN) or {}), file.name: record})
    return file.with_content(record)
