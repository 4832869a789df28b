"""Reading .deb files without Debian's tools, so that the base can be bootstrapped on any Linux.

A .deb is an `ar` archive of debian-binary, control.tar.* and data.tar.*.
"""

from __future__ import annotations

import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from harness.base.errors import CorruptData

_MAGIC = b"!<arch>\n"
_HEADER = 60


def read_control(path: Path) -> dict[str, str]:
    """The fields of a package's control file."""
    with _member(path, "control.tar") as archive:
        for info in archive:
            if info.name.removeprefix("./") == "control":
                stream = archive.extractfile(info)
                assert stream is not None  # a regular file, as every control file is
                return parse_fields(stream.read().decode())
    raise _broken(path, "it has no control file")


def parse_fields(text: str) -> dict[str, str]:
    """One paragraph of `Field: value` lines; continuation lines are joined."""
    fields: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line[:1] in (" ", "\t"):
            fields[name] += "\n" + line.strip()
        elif ":" in line:
            name, value = line.split(":", 1)
            fields[name] = value.strip()
    return fields


@contextmanager
def open_data(path: Path) -> Iterator[tarfile.TarFile]:
    """The files a package installs, as a tar archive read once from front to back."""
    with _member(path, "data.tar") as archive:
        yield archive


@contextmanager
def _member(path: Path, prefix: str) -> Iterator[tarfile.TarFile]:
    try:
        with path.open("rb") as stream:
            name, size = _find(stream, prefix)
            body = io.BytesIO(stream.read(size))
            if len(body.getbuffer()) != size:
                raise _broken(path, "it ends early")
        with _decompressed(body, name) as plain, tarfile.open(fileobj=plain, mode="r|") as archive:
            yield archive
    except (tarfile.TarError, EOFError, ValueError, OSError, lzma.LZMAError, zlib.error) as error:
        raise _broken(path, str(error)) from error


def _find(stream: IO[bytes], prefix: str) -> tuple[str, int]:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("not an ar archive")
    while len(header := stream.read(_HEADER)) == _HEADER:
        name = header[:16].decode("ascii").strip().rstrip("/")
        size = int(header[48:58])
        if name.startswith(prefix):
            return name, size
        stream.seek(size + size % 2, io.SEEK_CUR)
    raise ValueError(f"no member {prefix}.*")


@contextmanager
def _decompressed(body: io.BytesIO, name: str) -> Iterator[IO[bytes]]:
    suffix = Path(name).suffix
    if suffix == ".xz":
        with lzma.open(body) as stream:
            yield cast(IO[bytes], stream)
    elif suffix == ".gz":
        import gzip

        with gzip.open(body) as stream:
            yield cast(IO[bytes], stream)
    elif suffix == ".zst":
        import pyarrow

        with pyarrow.CompressedInputStream(body, "zstd") as stream:
            yield io.BytesIO(stream.read())
    elif suffix == ".tar":
        yield body
    else:
        raise ValueError(f"unknown compression of {name}")


def _broken(path: Path, why: str) -> CorruptData:
    return CorruptData(
        f"not a readable Debian package: {why}",
        where=str(path),
        todo="delete this file and run `harness image fetch` again",
    )
