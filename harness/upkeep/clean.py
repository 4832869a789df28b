"""Removal of what has no owner any more, and on request of what can be made again. Results are never removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.base.layout import Layout
from harness.base.ownership import abandoned_folders
from harness.engine import Engine, find_orphans
from harness.engine.leftovers import remove_stubborn
from harness.engine.orphans import discard_container
from harness.images.parts import incoming

_OURS = ("permafrost/", "permafrost-test/")
# a served engine keeps its images here; they are removed through the engine
_NOT_CACHE = frozenset({"engine"})


@dataclass(frozen=True)
class Removal:
    """One thing that was removed, or would be; `fault`: why it could not be removed."""

    kind: str
    name: str
    bytes: int = 0
    fault: str = ""


def clean(
    layout: Layout, engine: Engine | None, *, images: bool = False, cache: bool = False, dry_run: bool = False
) -> Iterator[Removal]:
    """Remove orphaned containers and temporary folders; with `images` also our images, with `cache` the cache."""
    if engine is not None:
        yield from _orphans(engine, dry_run=dry_run)
    for place in (layout.local / "work", incoming(layout)):
        for folder in abandoned_folders(place):
            yield _folder("temporary folder", folder, dry_run=dry_run)
    if images and engine is not None:
        yield from _images(engine, dry_run=dry_run)
    if cache and layout.cache.is_dir():
        for path in sorted(layout.cache.iterdir()):
            if path.name not in _NOT_CACHE:
                yield _folder("cache", path, dry_run=dry_run)


def _orphans(engine: Engine, *, dry_run: bool) -> Iterator[Removal]:
    for orphan in find_orphans(engine):
        if not dry_run:
            discard_container(engine, orphan.container)
        yield Removal("container", f"{orphan.container[:12]} ({orphan.state}) of run {orphan.run}")


def _images(engine: Engine, *, dry_run: bool) -> Iterator[Removal]:
    """Remove images that are ours by label or by name; those built on others first."""
    import docker.errors

    images = sorted(engine.api.images(), key=lambda image: -int(image.get("Created") or 0))
    for image in images:
        names = [name for name in image.get("RepoTags") or [] if not name.startswith("<none>")]
        is_ours = any(name.removeprefix("localhost/").startswith(_OURS) for name in names)
        if not is_ours and "permafrost" not in (image.get("Labels") or {}):
            continue
        fault = ""
        if not dry_run:
            try:
                for name in names or [image["Id"]]:
                    engine.api.remove_image(name)
            except docker.errors.APIError as error:
                # a container or another image uses it: it stays
                fault = str(error.explanation or error)
        label = ", ".join(names) or str(image["Id"])[:19]
        yield Removal("image", label, int(image.get("Size") or 0), fault)


def _folder(kind: str, path: Path, *, dry_run: bool) -> Removal:
    size = _size(path)
    faults: list[str] = []
    if not dry_run:
        if path.is_dir() and not path.is_symlink():
            faults = remove_stubborn(path)
        else:
            path.unlink(missing_ok=True)
    return Removal(kind, str(path), size, "; ".join(faults[:3]))


def _size(path: Path) -> int:
    """Bytes on disk, links not followed."""
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += (Path(folder) / name).lstat().st_blocks * 512
            except OSError:
                continue
    return total
