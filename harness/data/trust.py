"""Files without a checksum are trusted only once the dataset made of them has passed every check.

Nothing is recorded before: the login page of a network or a cut file must never become the recorded content.
"""

from __future__ import annotations

import csv
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import CorruptData, DataError, unknown
from harness.base.files import read_json
from harness.base.layout import Layout
from harness.data.first_use import RECORD, take
from harness.data.manifest import DatasetManifest, manifest_names, manifest_path
from harness.data.sources import cache_path

# what converters and the libraries below them raise over a file that is another than they expect
_UNREADABLE = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, OSError, SyntaxError, TypeError, ValueError),
    *(csv.Error, struct.error, zipfile.BadZipFile, zlib.error),
)


@contextmanager
def seen_first(layout: Layout, manifest: DatasetManifest, files: Mapping[str, Path]) -> Iterator[None]:
    """Record the unrecorded files of a dataset if the block, which converts and checks them, ends well.

    Otherwise those that were downloaded are thrown away, so that the next try asks for them again.
    """
    strange = [file for file in manifest.files if not file.recorded]
    if not strange:
        yield
        return
    downloads = {cache_path(layout, file) for file in strange}
    try:
        yield
    except (DataError, *_UNREADABLE) as error:
        for path in downloads & set(files.values()):
            path.unlink(missing_ok=True)
        what = error.what if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        raise CorruptData(
            f"dataset '{manifest.name}' can't be made of {', '.join(file.name for file in strange)}, "
            f"whose content nobody has recorded: {what}",
            where="\n         ".join(str(files[file.name]) for file in strange),
            todo="nothing was recorded and downloads were thrown away; see that the addresses give the files and "
            f"no web page, or put the right ones into {manifest_path(layout, manifest.name).parent / 'own'}",
        ) from error
    for file in strange:
        known = take(file, files[file.name], manifest_path(layout, manifest.name).parent)
        if files[file.name] in downloads:
            place = cache_path(layout, known)
            place.parent.mkdir(parents=True, exist_ok=True)
            files[file.name].replace(place)


def forget(layout: Layout, name: str) -> list[str]:
    """The names of a dataset's files whose record of first sight was removed."""
    if name not in manifest_names(layout):
        raise unknown("dataset", name, manifest_names(layout), where=layout.datasets)
    path = manifest_path(layout, name).parent / RECORD
    entries = read_json(path)
    path.unlink(missing_ok=True)
    return sorted(entries) if isinstance(entries, dict) else []
