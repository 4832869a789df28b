"""Crates as .zip files: written whole or not at all, equal bytes for equal crates, and unpacked with care."""

from __future__ import annotations

import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from harness.base.errors import CorruptData, UsageError
from harness.base.large_files import file_in_the_making
from harness.base.plurals import counted
from harness.base.progress import Progress
from harness.base.zips import UNREADABLE
from harness.export.contents import relative_path

# The earliest time in a .zip: entries of equal results must be equal.
_EPOCH = (1980, 1, 1, 0, 0, 0)
# Of a crate: more would fill the disk of whoever verifies it.
_MOST_BYTES = 1 << 40


def write_zip(folder: Path, output: Path, progress: Progress) -> None:
    """Pack a folder, file by file."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    progress.note(f"compressing {counted(len(paths), 'file')}")
    with file_in_the_making(output) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            info = zipfile.ZipInfo(relative_path(folder, path), _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if path.stat().st_mode & 0o100 else 0o644) << 16
            info.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(info, "w") as target:
                shutil.copyfileobj(source, target)


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder of a crate; a .zip is unpacked for as long as it is needed."""
    if path.is_dir():
        yield path
        return
    if not path.is_file() or not zipfile.is_zipfile(path):
        raise UsageError(
            "there is no crate", where=str(path), todo="name the folder or the .zip that `harness export` wrote"
        )
    with tempfile.TemporaryDirectory(prefix="permafrost-verify-") as name:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, Path(name))
        except (*UNREADABLE, OSError) as error:
            raise CorruptData(
                f"the crate can't be unpacked: {error}", where=str(path), todo="get it again"
            ) from None
        yield Path(name)


def _unpack(archive: zipfile.ZipFile, folder: Path) -> None:
    names = set[str]()
    if sum(info.file_size for info in archive.infolist()) > _MOST_BYTES:
        raise zipfile.BadZipFile(f"it unpacks to more than {_MOST_BYTES} bytes")
    for info in archive.infolist():
        place, mode = PurePosixPath(info.filename), info.external_attr >> 16
        if place.is_absolute() or ".." in place.parts or info.filename in names or stat.S_ISLNK(mode):
            raise zipfile.BadZipFile(f"{info.filename} leads out of the crate, or stands twice")
        names.add(info.filename)
        target = Path(archive.extract(info, folder))
        if not info.is_dir():
            target.chmod(0o755 if mode & 0o100 else 0o644)
