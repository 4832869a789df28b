"""Files that are whole or absent: atomic writing, sha256, and one canonical JSON for everything hashed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from harness.base.network_files import move

_CHUNK = 1 << 20
# Made once: json.dumps would make one per call, a tenth of what checking a record takes.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> bytes:
    """The one text of a value: sorted keys, no spaces, no NaN, so that equal values have equal hashes."""
    return _CANONICAL.encode(value).encode()


def digest_of(value: Any) -> str:
    """sha256 of a JSON value's canonical text."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def sha256_of(path: Path) -> str:
    """sha256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def checksum(path: Path) -> str:
    """sha256 of a file; read once per process until the file changes."""
    about = path.stat()
    return _checksum(path, about.st_size, about.st_mtime_ns)


@cache
def _checksum(path: Path, _size: int, _changed: int) -> str:
    return sha256_of(path)


def sync_folder(path: Path) -> None:
    """Make a rename inside `path` survive a power cut."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomic(path: Path, content: bytes | str | Iterator[bytes]) -> None:
    """Write a whole file or nothing: temporary neighbour, fsync, rename. Of much content its pieces."""
    text = content.encode() if isinstance(content, str) else content
    data = iter([text]) if isinstance(text, bytes) else text
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        move(Path(name), path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk names no file
        raise
    sync_folder(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Write JSON for people and programs alike: indented, sorted, atomic."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomic(path, text + "\n")


def read_json(path: Path, *, most_bytes: int = 1 << 20) -> Any:
    """The JSON value of a small file, or None where there is none, it is too large, or it is not strict JSON."""
    try:
        if path.stat().st_size > most_bytes:
            return None
        return json.loads(path.read_bytes(), parse_constant=_refuse)
    except (OSError, ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


@contextmanager
def folder_in_the_making(final: Path) -> Iterator[Path]:
    """A folder that appears under its name only when the block ends well.

    If another process made `final` first, theirs stays and ours is thrown away.
    """
    final.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=final.parent, prefix=f".{final.name}."))
    try:
        yield making
        for path in (*making.rglob("*"), making):
            if path.is_dir() and not path.is_symlink():
                sync_folder(path)
        try:
            move(making, final)
        except OSError:
            if not final.is_dir():
                raise
        else:
            final.chmod(0o755)
            sync_folder(final.parent)
    finally:
        shutil.rmtree(making, ignore_errors=True)
