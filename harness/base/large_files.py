"""Files too large to be held in memory, written piece by piece or by another library: whole or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.files import sync_folder


@contextmanager
def file_in_the_making(final: Path) -> Iterator[Path]:
    """A file that appears under its name, in the place of an earlier one, only when the block ends well."""
    handle, name = tempfile.mkstemp(dir=final.absolute().parent, prefix=f".{final.name}.")
    os.close(handle)
    making = Path(name)
    try:
        yield making
        with making.open("rb") as stream:
            os.fsync(stream.fileno())
        making.chmod(0o644)
        making.rename(final)
        sync_folder(final.absolute().parent)
    finally:
        making.unlink(missing_ok=True)
