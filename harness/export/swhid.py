"""Software Heritage identifiers of packed files and folders: names that follow from their content alone.

`swh identify` gives the same. The page of one exists where somebody has archived the repository.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

_RESOLVER = "https://archive.softwareheritage.org/"


def page_of(path: Path) -> str:
    """The address of a file or folder by its identifier."""
    kind = "dir" if path.is_dir() else "cnt"
    return f"{_RESOLVER}swh:1:{kind}:{_object_id(path).hex()}"


def _object_id(path: Path) -> bytes:
    """The id that git gives the content of a file or folder."""
    if not path.is_dir():
        return _hash("blob", path.read_bytes())
    rows = [(_mode(one), one.name.encode(), _object_id(one)) for one in path.iterdir()]
    # git sorts folders as if their names ended with a slash
    rows.sort(key=lambda row: row[1] + (b"/" if row[0] == b"40000" else b""))
    return _hash("tree", b"".join(b"%s %s\0%s" % row for row in rows))


def _hash(kind: str, content: bytes) -> bytes:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).digest()


def _mode(path: Path) -> bytes:
    if path.is_dir():
        return b"40000"
    return b"100755" if path.stat().st_mode & 0o100 else b"100644"
