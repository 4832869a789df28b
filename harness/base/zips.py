"""Members of zip files, read only if they unpack to an acceptable size: 3 MB can hold 3 GB."""

from __future__ import annotations

import zipfile
import zlib

MOST_BYTES = 64 << 20
# what reading a damaged zip file raises
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def member(archive: zipfile.ZipFile, name: str, *, most_bytes: int = MOST_BYTES) -> bytes:
    """The bytes of one member: no more than its announced size is unpacked, and its checksum must fit."""
    size = archive.getinfo(name).file_size
    if size > most_bytes:
        raise zipfile.BadZipFile(f"{name} unpacks to {size} bytes, more than {most_bytes}")
    return archive.read(name)
