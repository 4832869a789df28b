"""Where an original file can be had: beside its manifest, in the cache, in mirror folders, at its URLs.

A file is handed out only with the recorded size and sha256. Otherwise one error names every source that was tried
and why it failed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.data.download import Refused, download
from harness.data.manifest import SourceFile, manifest_path, mirror_path
from harness.errors import CorruptData, MissingData
from harness.files import sha256_of
from harness.layout import Layout

MIRROR_VARIABLE = "PERMAFROST_MIRROR"


@dataclass(frozen=True)
class _Attempt:
    source: str
    failure: str
    corrupt: bool = False


def mirror_folders(chosen: Sequence[Path] = ()) -> list[Path]:
    """Mirror folders given by option, then those of $PERMAFROST_MIRROR (separated as in $PATH)."""
    told = os.environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return list(
        dict.fromkeys([*(Path(folder) for folder in chosen), *(Path(folder) for folder in told if folder)])
    )


def cache_path(layout: Layout, file: SourceFile) -> Path:
    """The place of a file in the cache, named by its content."""
    return layout.cache / "data" / file.sha256[:2] / file.sha256


def local_copy(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path] = ()) -> Path | None:
    """A copy that is here and has the recorded size; its content is not read."""
    for path in _folders(layout, dataset, file, mirrors):
        if path.is_file() and path.stat().st_size == file.bytes:
            return path
    return None


def obtain(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path] = ()) -> Path:
    """A whole, checked copy of one file."""
    attempts: list[_Attempt] = []
    for path in _folders(layout, dataset, file, mirrors):
        if not path.is_file():
            attempts.append(_Attempt(str(path), "no such file"))
            continue
        fault = check_file(path, file)
        if fault is None:
            return path
        attempts.append(_Attempt(str(path), fault, corrupt=True))
    for url in file.urls:
        try:
            return download(url, file, cache_path(layout, file))
        except Refused as error:
            attempts.append(_Attempt(url, str(error), corrupt=error.corrupt))
    raise _nowhere(dataset, file, attempts)


def check_file(path: Path, file: SourceFile) -> str | None:
    """What is wrong with a file, or None."""
    try:
        size = path.stat().st_size
        if size != file.bytes:
            return f"{size} bytes instead of {file.bytes}: cut or changed"
        found = sha256_of(path)
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return None if found == file.sha256 else f"sha256 is {found}, not the recorded {file.sha256}"


def _folders(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path]) -> list[Path]:
    """Every local place the file could be, in the order of trust."""
    beside = [] if file.urls else [manifest_path(layout, dataset).parent / file.name]
    places = [folder / mirror_path(url) for folder in mirror_folders(mirrors) for url in file.urls]
    return [*beside, cache_path(layout, file), *places]


def _nowhere(dataset: str, file: SourceFile, attempts: Sequence[_Attempt]) -> MissingData | CorruptData:
    where = "\n         ".join(f"{attempt.source}: {attempt.failure}" for attempt in attempts)
    todo = (
        f"allow a download from one of its URLs, or give a mirror folder with --mirror DIR or ${MIRROR_VARIABLE}"
        if file.urls
        else "put the file beside its manifest, or record the sha256 and size of the file that lies there"
    )
    corrupt = any(attempt.corrupt for attempt in attempts)
    if corrupt:
        return CorruptData(
            f"no source of '{file.name}' (dataset {dataset}) has the recorded content",
            where=where,
            todo=f"remove or replace the damaged copy; {todo}",
        )
    return MissingData(f"'{file.name}' (dataset {dataset}) is in none of its sources", where=where, todo=todo)
