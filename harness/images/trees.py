"""Tree hashes: what an image holds, independent of the engine that built it, of time stamps and of layers.

An environment tree is the sha256 of a listing with one line per folder (a digest over its entries' names, types,
modes, owners, link targets and contents) and one for the settings a container starts with. A code tree is computed
from the repository alone, and again from a finished image, which proves that the image holds that code. It is over
what the code means (`harness.meaning`): an image built before a comment changed holds the present code.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from harness.base.errors import ImageError
from harness.base.file_state import FileState, state_of
from harness.base.files import digest_of, sha256_of
from harness.images.sources import MOST_BYTES, code_files
from harness.meaning import meaning_of

CODE_ROOTS = ("opt/method", "opt/sdk")
# Engines mount over or write these themselves.
_STUBS = ("dev", "proc", "sys", ".dockerenv", "etc/hosts", "etc/resolv.conf", "etc/hostname", "etc/mtab")
# Here engines make folders and empty files to mount over, and what else there is a container sees.
_MADE_EMPTY = ("run", "mnt")
# What an image may make of its containers beside their start; ours ask for none of it, but engines name a signal.
_UNASKED = ("Healthcheck", "Volumes", "OnBuild", "Shell", "StopSignal")
_USUAL_SIGNAL = ("SIGTERM", "15")


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a root file system; `sha256` is of a file's content, of a file of code of its meaning."""

    kind: str
    mode: int
    uid: int
    gid: int
    target: str
    sha256: str
    size: int


Entries = Mapping[str, TreeEntry]


def read_tree(stream: IO[bytes], folder: str = "") -> dict[str, TreeEntry]:
    """All entries of an exported root file system, or of a folder in it, but engine stubs.

    A hard link counts as its file.
    """
    entries: dict[str, TreeEntry] = {}
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for info in archive:
            name = _plain(info.name, folder)
            if not name or _is_below(name, _STUBS) or (_is_below(name, _MADE_EMPTY) and not _holds(info)):
                continue
            if info.islnk():
                entries[name] = _linked(entries, name, _plain(info.linkname, folder))
                continue
            entries[name] = _entry(archive, info, is_code=_is_below(name, CODE_ROOTS))
    return entries


def _linked(entries: Entries, name: str, target: str) -> TreeEntry:
    """The entry of a hard link: that of its file, which stands before it; what no tree counts is none."""
    if target not in entries:
        raise ImageError(
            "a hard link leads to what belongs to no tree",
            where=f"/{name} -> /{target}",
            todo="make the image without it: engines mount over that file, or write it themselves",
        )
    return entries[target]


def environment_listing(entries: Entries, config: Mapping[str, Any]) -> str:
    """The text whose sha256 is the environment tree: everything but the method's code."""
    folders: dict[str, list[list[str | int]]] = defaultdict(list)
    for name, entry in sorted(entries.items()):
        if _is_below(name, CODE_ROOTS):
            continue
        folder, _, base = name.rpartition("/")
        mode = 0 if entry.kind == "link" else entry.mode
        folders[folder].append([base, entry.kind, mode, entry.uid, entry.gid, entry.target, entry.sha256])
    lines = [f"{digest_of(start_settings(config))} settings"]
    lines += [f"{digest_of(rows)} {len(rows)} /{folder}" for folder, rows in sorted(folders.items())]
    return "\n".join(lines) + "\n"


def listing_digest(listing: str) -> str:
    """The environment tree of a listing."""
    return hashlib.sha256(listing.encode()).hexdigest()


def start_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """What an image's configuration says about how a container starts, the same for every engine."""
    unasked = {name: value for name in _UNASKED if (value := config.get(name)) and value not in _USUAL_SIGNAL}
    return {
        "environment": sorted(config.get("Env") or []),
        "entrypoint": list(config.get("Entrypoint") or []),
        "command": list(config.get("Cmd") or []),
        "user": config.get("User") or "",
        "folder": config.get("WorkingDir") or "/",
        **unasked,
    }


def code_of_entries(entries: Entries) -> str:
    """The code tree of an exported image."""
    rows = [
        [name.removeprefix("opt/"), entry.kind, bool(entry.mode & 0o100), entry.target, entry.sha256]
        for name, entry in sorted(entries.items())
        if _is_below(name, CODE_ROOTS) and entry.kind != "folder"
    ]
    return digest_of(rows)


def code_of_folders(method: Path, *sdk: Path) -> str:
    """The code tree of the repository's folders: the same rows as `code_of_entries` gives for a built image."""
    rows: list[list[str | bool]] = []
    for prefix, folder in (("method", method), *(("sdk", one) for one in sdk)):
        for relative in code_files(folder):
            path = folder / relative
            executable = bool(path.stat().st_mode & 0o100)
            rows.append([f"{prefix}/{relative}", "file", executable, "", _meaning(path, state_of(path))])
    return digest_of(sorted(rows))


# Many methods share their files, which are read once until they change.
@cache
def _meaning(path: Path, _state: FileState) -> str:
    return meaning_of(path.name, path.read_bytes())


def folder_tree(folder: Path) -> str:
    """The tree hash of any folder of code, for instance a checkout of the authors' own; no link is followed."""
    rows = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if ".git" in name.parts:
            continue
        if path.is_symlink():
            rows.append([name.as_posix(), f"link to {path.readlink()}"])
        elif path.is_file():
            rows.append([name.as_posix(), sha256_of(path)])
    return digest_of(rows)


def differing(first: Entries, second: Entries) -> list[str]:
    """Paths that two trees don't share, each with what differs; code left out."""
    names = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    return [
        _difference(name, first.get(name), second.get(name)) for name in names if not _is_below(name, CODE_ROOTS)
    ]


def differing_folders(recorded: str, actual: str) -> list[str]:
    """Folders in which two listings differ."""
    first, second = _folder_lines(recorded), _folder_lines(actual)
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))


def _folder_lines(listing: str) -> dict[str, str]:
    rows = (line.split(" ", 2) for line in listing.splitlines())
    return {row[-1]: " ".join(row[:-1]) for row in rows}


def _difference(name: str, first: TreeEntry | None, second: TreeEntry | None) -> str:
    if first is None:
        return f"/{name} (new)"
    if second is None:
        return f"/{name} (gone)"
    fields = [field for field in TreeEntry.__slots__ if getattr(first, field) != getattr(second, field)]
    return f"/{name} ({', '.join(fields)})"


def _entry(archive: tarfile.TarFile, info: tarfile.TarInfo, *, is_code: bool) -> TreeEntry:
    if info.isdir():
        return TreeEntry("folder", info.mode & 0o7777, info.uid, info.gid, "", "", 0)
    if info.issym():
        return TreeEntry("link", 0, info.uid, info.gid, info.linkname, "", 0)
    if not info.isreg():
        return TreeEntry(f"special-{info.type.decode()}", info.mode & 0o7777, info.uid, info.gid, "", "", 0)
    stream = archive.extractfile(info)
    assert stream is not None  # isreg() was true
    # we put nothing larger there, but an image made elsewhere may hold anything
    readable = is_code and info.size <= MOST_BYTES
    sha256 = (
        meaning_of(info.name, stream.read())
        if readable
        else file_digest(cast(BufferedReader, stream), "sha256").hexdigest()
    )
    return TreeEntry("file", info.mode & 0o7777, info.uid, info.gid, "", sha256, info.size)


def _holds(info: tarfile.TarInfo) -> bool:
    """Whether an entry can tell anything by more than its name, as what engines make to mount over can not."""
    return info.issym() or info.islnk() or (info.isreg() and info.size > 0)


def _plain(name: str, folder: str) -> str:
    return "/".join(filter(None, (folder, name.removeprefix("./").strip("/"))))


def _is_below(name: str, roots: Iterable[str]) -> bool:
    return any(name == root or name.startswith(f"{root}/") for root in roots)
