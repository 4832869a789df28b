"""Where an original file can be had: beside its manifest, in the cache, in mirror folders, at its URLs.

A file is handed out only with the recorded size and sha256; one that has none must look like a file (`trust`
checks it later). Otherwise one error names every source that was tried and why it failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from harness.base.download import MIRROR_VARIABLE, Refused, download, mirror_folders
from harness.base.errors import CorruptData, DataError, MissingData
from harness.base.few import few_in_line
from harness.base.files import checksum, digest_of, read_json, sha256_of
from harness.base.layout import Layout
from harness.data.manifest import FIRST_SEEN, DatasetManifest, SourceFile, manifest_path, mirror_path
from harness.data.own_tables import brought_folder

_POINTER = b"version https://git-lfs"
_WEB_PAGE = (b"<!doctype html", b"<html", b"<head", b"<body")
_LOOK_BYTES = 1024
# as many other files as an error names
_NAMED = 12
_LINE_ENDS = "the recorded lines with other line ends; copy it unconverted (with git: core.autocrlf=false)"


@dataclass(frozen=True)
class _Attempt:
    source: str
    failure: str
    corrupt: bool = False


def cache_path(layout: Layout, file: SourceFile) -> Path:
    """The place of a file in the cache, named by its content; while that is unknown, by its addresses."""
    if not file.recorded:
        return layout.cache / "data" / "unknown" / digest_of(file.urls)
    return layout.cache / "data" / file.sha256[:2] / file.sha256


def local_copies(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path] = ()) -> list[Path]:
    """Every copy that is here, in the order in which it is looked for, whatever it holds."""
    return [path for path in _folders(layout, dataset, file, mirrors) if path.is_file()]


def local_copy(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path] = ()) -> Path | None:
    """A copy that is here and has the recorded size; its content is not read."""
    for path in _folders(layout, dataset, file, mirrors):
        if path.is_file() and (not file.recorded or path.stat().st_size == file.bytes):
            return path
    return None


def obtain(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path] = ()) -> Path:
    """A whole, checked copy of one file."""
    attempts: list[_Attempt] = []
    for path in _folders(layout, dataset, file, mirrors):
        if not path.is_file():
            attempts.append(_Attempt(str(path), "a folder, not a file" if path.is_dir() else "no such file"))
            continue
        fault = check_file(path, file)
        if fault is None:
            return path
        attempts.append(_Attempt(str(path), fault, corrupt=True))
    for url in file.urls:
        try:
            path = download(url, file, cache_path(layout, file))
            if (fault := check_file(path, file)) is None:
                return path
            attempts.append(_Attempt(url, fault, corrupt=True))
        except Refused as error:
            attempts.append(_Attempt(url, str(error), corrupt=error.corrupt))
    raise _nowhere(layout, dataset, file, attempts)


def obtain_all(
    layout: Layout, dataset: str, files: Sequence[SourceFile], mirrors: Sequence[Path]
) -> dict[str, Path]:
    """Whole, checked copies of several files, by name; an error also names those that would be the next."""
    copies: dict[str, Path] = {}
    for number, file in enumerate(files, 1):
        try:
            copies[file.name] = obtain(layout, dataset, file, mirrors)
        except DataError as error:
            # the others are not downloaded for it: a network that is off may take minutes to say so for each
            others = [one.name for one in files[number:] if not _has_whole_copy(layout, dataset, one, mirrors)]
            if others:
                error.where += f"\n         nor is a whole copy here of {few_in_line(others, _NAMED)}"
            raise
    return copies


def _has_whole_copy(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path]) -> bool:
    return any(check_file(path, file) is None for path in local_copies(layout, dataset, file, mirrors))


def changed_files(layout: Layout, manifest: DatasetManifest) -> dict[Path, str]:
    """Files beside the manifest that are not what it records any more, and how each differs.

    Cheap enough to be asked at every use: a file is read again when its size or time changes.
    """
    folder = manifest_path(layout, manifest.name).parent
    faults = {}
    for file in manifest.own_files:
        path = folder / file.name
        if file.recorded and path.is_file() and (fault := check_file(path, file, digest=checksum)):
            faults[path] = fault
    return faults


def check_file(path: Path, file: SourceFile, *, digest: Callable[[Path], str] = sha256_of) -> str | None:
    """What is wrong with a file, or None."""
    try:
        size = path.stat().st_size
        if not file.recorded:
            return _unlikely(path)
        if size != file.bytes:
            how = _LINE_ENDS if _has_other_line_ends(path, file) else "cut or changed"
            return f"{size} bytes instead of {file.bytes}: {how}"
        actual = digest(path)
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return None if actual == file.sha256 else f"sha256 is {actual}, not the recorded {file.sha256}"


def _has_other_line_ends(path: Path, file: SourceFile) -> bool:
    """Whether a copy that is too long or too short has the recorded lines."""
    lines = path.read_bytes().replace(b"\r\n", b"\n")
    return file.sha256 in (sha256(ends).hexdigest() for ends in (lines, lines.replace(b"\n", b"\r\n")))


def _unlikely(path: Path) -> str | None:
    """Why a file of unknown content can't be the one that is meant."""
    with path.open("rb") as stream:
        start = stream.read(_LOOK_BYTES)
    if start.startswith(_POINTER):
        return "a pointer to a file in large file storage, not the file"
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB_PAGE):
        return "a web page (a log-in or an error page?), not the file"
    return None if start else "is empty"


def _folders(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path]) -> list[Path]:
    """Every local place the file could be, in the order of trust."""
    beside = brought_folder(layout, dataset) if file.urls else manifest_path(layout, dataset).parent
    places = [folder / mirror_path(url) for folder in mirror_folders(mirrors) for url in file.urls]
    return [beside / file.name, cache_path(layout, file), *places]


def _nowhere(
    layout: Layout, dataset: str, file: SourceFile, attempts: Sequence[_Attempt]
) -> MissingData | CorruptData:
    where = "\n         ".join(f"{attempt.source}: {attempt.failure}" for attempt in attempts)
    todo = (
        f"allow a download from one of its URLs (`harness data get {dataset}`), give a mirror folder "
        f"with --mirror DIR or ${MIRROR_VARIABLE}, or put it into {brought_folder(layout, dataset)}"
        if file.urls
        else "put the file beside its manifest; if another one lies there and is right: "
        f"harness data accept {dataset}"
    )
    if any(attempt.corrupt for attempt in attempts):
        return CorruptData(
            f"no source of '{file.name}' (dataset {dataset}) has the recorded content",
            where=where,
            todo=f"remove or replace the damaged copy; {todo}{_retraction(layout, dataset, file)}",
        )
    return MissingData(f"'{file.name}' (dataset {dataset}) is in none of its sources", where=where, todo=todo)


def _retraction(layout: Layout, dataset: str, file: SourceFile) -> str:
    """How to take back a content that was only recorded because it came first."""
    record = manifest_path(layout, dataset).parent / FIRST_SEEN
    if not file.recorded or not record.is_file() or file.name not in (read_json(record) or {}):
        return ""
    return (
        f"; its content was recorded when it was first seen here: if that was the wrong file, "
        f"`harness data forget {dataset}` takes it back"
    )
