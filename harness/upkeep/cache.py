"""What of the cache is the harness's own, and who uses it: $PERMAFROST_CACHE may name a folder that holds more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.base.layout import Layout
from harness.base.ownership import abandoned_folders
from harness.images.parts import incoming
from harness.images.receipts import CONTEXT, is_building

_DIGEST = "[0-9a-f]{8,64}"
# environments of programs that the site and the tests need
_PROGRAMS = rf".+-{_DIGEST}|.+\.lock"
# How the harness names what it keeps, by folder: the names of the folders themselves are anybody's. Not `engine`,
# where a served engine keeps its images: they are removed through the engine. Not `weights`: who brought or
# adapted a model may have no other copy.
CACHED = {
    "apt": "etc|var",
    "audit": _DIGEST,
    "completion": _DIGEST,
    "data": r"[0-9a-f]{2}|unknown|first-sight-of-.+\.lock",
    "datasets": f"(recipe-)?{_DIGEST}",
    "docs": _PROGRAMS,
    "extended": f".+_new_{_DIGEST}",
    "images": rf"{_DIGEST}|held|building\.lock|{CONTEXT}.+",
    "judges": _PROGRAMS,
    "parts": "[0-9a-f]{2}|incoming",
    "splits": f"{_DIGEST}|made",
    "studies": _DIGEST,
}


def cached_paths(layout: Layout) -> Iterator[Path]:
    """What the harness made in the cache: a folder of it, or what is its own in one that holds more."""
    for name, pattern in sorted(CACHED.items()):
        folder = layout.cache / name
        if not folder.is_dir():
            continue
        inside = sorted(folder.iterdir())
        own = [path for path in inside if re.fullmatch(rf"({pattern})(\.[a-z]+)*", path.name)]
        yield from [folder] if own == inside else own


def user_of(layout: Layout, path: Path) -> str:
    """What another harness does with a part of the cache at the moment; empty where nobody is known to use it."""
    name = path.relative_to(layout.cache).parts[0]
    if name == "images" and is_building(layout):
        return "another harness builds or verifies an image"
    downloads = incoming(layout)
    if name == "parts" and downloads.is_dir() and {*downloads.iterdir()}.difference(abandoned_folders(downloads)):
        return "another harness fetches parts"
    return ""
