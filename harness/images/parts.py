"""The store of fetched parts, named by sha256: a file is in it whole and verified, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from harness.base.errors import CorruptData, MissingData
from harness.base.files import sha256_of, sync_folder
from harness.base.layout import Layout
from harness.images.locks import Part


def part_path(layout: Layout, part: Part) -> Path:
    """Where a part lies once it is fetched."""
    return layout.parts / part.sha256[:2] / part.sha256


def is_fetched(layout: Layout, part: Part) -> bool:
    """Whether the part is in the store (its content is checked when it is used)."""
    return part_path(layout, part).is_file()


def missing_parts(layout: Layout, parts: Iterable[Part]) -> list[Part]:
    """Those that were never fetched here, each once."""
    return list({part.sha256: part for part in parts if not is_fetched(layout, part)}.values())


def incoming(layout: Layout) -> Path:
    """Where downloads grow before they are admitted, a folder per process; on the store's own file system."""
    return layout.parts / "incoming"


def admit(layout: Layout, part: Part, downloaded: Path) -> Path:
    """Move a finished download into the store if it is what the lock says; delete it otherwise."""
    size, actual = downloaded.stat().st_size, sha256_of(downloaded)
    if actual != part.sha256:
        downloaded.unlink()
        why = f"its sha256 is {actual} instead of {part.sha256}"
        if part.size not in (None, size):
            why = f"it is {size} bytes long instead of {part.size}"
        raise CorruptData(
            f"{part.file} is not the file that was locked: {why}",
            where=f"a download, now deleted ({part.path})",
            todo="try another source (--mirror DIR); if all of them agree, it is the lock that was changed",
        )
    target = part_path(layout, part)
    target.parent.mkdir(parents=True, exist_ok=True)
    downloaded.chmod(0o444)
    with downloaded.open("rb") as stream:
        os.fsync(stream.fileno())
    downloaded.replace(target)
    sync_folder(target.parent)
    return target


def checked_part(layout: Layout, part: Part) -> Path:
    """The path of a fetched part after its sha256 was verified once more."""
    path = part_path(layout, part)
    if not path.is_file():
        raise MissingData(
            f"{part.file} has not been fetched",
            where=str(path),
            todo="run `harness image fetch` (needs a network)",
        )
    actual = sha256_of(path)
    if actual != part.sha256:
        raise CorruptData(
            f"{part.file} changed after it was fetched: sha256 {actual} instead of {part.sha256}",
            where=str(path),
            todo="delete that file and run `harness image fetch` again",
        )
    return path
