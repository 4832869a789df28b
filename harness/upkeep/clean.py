"""Removal of what has no owner any more, and on request of what can be made again. Results are never removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.layout import Layout
from harness.base.ownership import abandoned_folders
from harness.data.extension import left_over
from harness.engine import Engine, find_orphans
from harness.engine.build_cache import empty_build_cache, may_empty_build_cache
from harness.engine.leftovers import remove_stubborn
from harness.engine.orphans import discard_container
from harness.images.parts import incoming
from harness.images.receipts import receipt_path
from harness.upkeep.cache import cached_paths, user_of
from harness.upkeep.demand import Asked

_OURS = ("permafrost/", "permafrost-test/")


@dataclass(frozen=True)
class Removal:
    """One thing that was removed, or would be; `fault`: why it could not be removed."""

    kind: str
    name: str
    bytes: int = 0
    fault: str = ""


def clean(
    layout: Layout,
    engine: Engine | None,
    *,
    images: bool = False,
    old_images: bool = False,
    cache: bool = False,
    dry_run: bool = False,
) -> Iterator[Removal]:
    """Remove orphaned containers and temporary folders.

    With `old_images` also images that this tree asks for no longer, with `images` all of ours and what building
    them left in the engine, with `cache` the cache.
    """
    if engine is not None:
        yield from clean_engine(layout, engine, images=images, old_images=old_images, dry_run=dry_run)
    yield from clean_folders(layout, cache=cache, dry_run=dry_run)


def clean_engine(
    layout: Layout, engine: Engine, *, images: bool, old_images: bool = False, dry_run: bool
) -> Iterator[Removal]:
    """What `clean` removes from an engine."""
    yield from _orphans(engine, dry_run=dry_run)
    if images or old_images:
        yield from _images(layout, engine, None if images else Asked(layout), dry_run=dry_run)
    if images:
        yield from _build_cache(layout, engine, dry_run=dry_run)


def clean_folders(layout: Layout, *, cache: bool, dry_run: bool) -> Iterator[Removal]:
    """What `clean` removes from this machine's disk."""
    for place in (layout.local / "work", incoming(layout)):
        for folder in abandoned_folders(place):
            yield folder_removal("temporary folder", folder, dry_run=dry_run)
    if cache:
        for path in cached_paths(layout):
            if user := user_of(layout, path):
                yield Removal("cache", str(path), fault=user)
            else:
                yield folder_removal("cache", path, dry_run=dry_run)
        for folder in left_over(layout):
            yield folder_removal("extended dataset", folder, dry_run=dry_run)


def _orphans(engine: Engine, *, dry_run: bool) -> Iterator[Removal]:
    for orphan in find_orphans(engine):
        if not dry_run:
            discard_container(engine, orphan.container)
        of = f"of run {orphan.run}" if orphan.run else "of an examination"
        yield Removal("container", f"{orphan.container[:12]} ({orphan.state}) {of}")


def _images(layout: Layout, engine: Engine, asked: Asked | None, *, dry_run: bool) -> Iterator[Removal]:
    """Remove the names that are ours, but for those asked for, and what we made without any; bases last.

    A label alone makes no image ours: what a person builds on one of ours has it too.
    """
    import docker.errors

    images = sorted(engine.api.images(), key=lambda image: -int(image.get("Created") or 0))
    for image in images:
        every = [name for name in image.get("RepoTags") or [] if not name.startswith("<none>")]
        names = [name for name in every if name.removeprefix("localhost/").startswith(_OURS)]
        if not names and (every or "permafrost" not in (image.get("Labels") or {})):
            continue
        if asked is not None and any(asked.may_need(name) for name in names):
            continue
        fault = ""
        if not dry_run:
            try:
                for name in names or [image["Id"]]:
                    engine.api.remove_image(name)
                    # an image that is gone was not built here, whatever a receipt says
                    receipt_path(layout, engine, name).unlink(missing_ok=True)
            except docker.errors.APIError as error:
                # a container or another image uses it: it stays
                fault = str(error.explanation or error)
        label = ", ".join(names) or str(image["Id"])[:19]
        yield Removal("image", label, int(image.get("Size") or 0), fault)


def _build_cache(layout: Layout, engine: Engine, *, dry_run: bool) -> Iterator[Removal]:
    """Empty what Docker's builder keeps. In an engine that is not the harness's own, others may need it."""
    if engine.name != "docker":
        # Podman builds without one
        return
    size = sum(int(one.get("Size") or 0) for one in engine.api.df().get("BuildCache") or [])
    if not size:
        return
    fault = ""
    if not may_empty_build_cache(layout, engine):
        fault = (
            "not in an engine of the harness's own, so others may need it; to empty it: docker builder prune --all"
        )
    elif not dry_run:
        empty_build_cache(engine)
    yield Removal("build cache", str(engine.socket), size, fault)


def folder_removal(kind: str, path: Path, *, dry_run: bool) -> Removal:
    """Remove a folder, or a file, after it was measured."""
    size = _size(path)
    faults: list[str] = []
    if not dry_run:
        if path.is_dir() and not path.is_symlink():
            faults = remove_stubborn(path)
        else:
            path.unlink(missing_ok=True)
    return Removal(kind, str(path), size, "; ".join(faults[:3]))


def _size(path: Path) -> int:
    """Bytes on disk, links not followed; of what is gone, or can't be looked at, none."""
    total = 0
    if not path.is_dir() or path.is_symlink():
        with suppress(OSError):
            total = path.lstat().st_size
        return total
    for folder, _, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                total += (Path(folder) / name).lstat().st_blocks * 512
    return total
