"""Files that a person names for a result: whole or absent, unless what has the name is no regular file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.files import write_atomic


def write_output(path: Path, content: bytes | str) -> None:
    """Write a whole file or nothing; of a pipe or a device, whose reader waits there, no file takes the place."""
    if path.exists() and not path.is_file():
        with error_naming(path), path.open("wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
    else:
        write_atomic(path, content)


@contextmanager
def error_naming(path: Path) -> Iterator[None]:
    """An error of the block passes as it is and names the file, which that of a full disk does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
