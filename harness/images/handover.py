"""Images that a folder hands over, for machines that build none: a mirror may hold them beside the parts.

A file is called after the image that it holds, whose name follows from its tree. It is loaded when the image is
first needed, and verified like any file of images. One that is refused is an error: nothing is built in its place.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from harness.base.download import mirror_folders
from harness.base.errors import HarnessError, UsageError
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.build import ensure_image, remove_images
from harness.images.builder import BuildEngine
from harness.images.export import id_of
from harness.images.fetch import Supply
from harness.images.identity import image_name
from harness.images.receipts import BuiltImage, receipt_path
from harness.images.transport import load_images, save_images
from harness.methods.card import method_names

ROOM_VARIABLE = "PERMAFROST_IMAGES_GIB"
_FOLDER = "images"


def hand_over(
    engine: BuildEngine, layout: Layout, methods: Sequence[str], mirror: Path, accelerator: Accelerator = "cpu"
) -> list[Path]:
    """The files of these methods' images below a mirror; those that are not there yet are written."""
    files = []
    for method in methods:
        file = _file_in(mirror, image_name(layout, method, accelerator))
        if not file.is_file():
            file.parent.mkdir(parents=True, exist_ok=True)
            save_images(engine, layout, [method], file, accelerator)
        files.append(file)
    return files


def take_image(
    engine: BuildEngine,
    layout: Layout,
    method: str,
    accelerator: Accelerator = "cpu",
    *,
    supply: Supply,
    in_use: Collection[str] = (),
) -> BuiltImage:
    """The verified image of a method: one that is here, else one that a mirror hands over, else one built now.

    Where this machine has a limit for images, those that were used least recently make room: none of the methods
    `in_use`.
    """
    name, room = image_name(layout, method, accelerator), room_for_images()
    is_here = id_of(engine, name) is not None
    if not is_here and (file := _handed(name, supply)):
        with activity(f"image of {method}, from {file}"):
            load_images(engine, layout, file)
    image = ensure_image(engine, layout, method, accelerator, supply=supply)
    # when it was used last
    receipt_path(layout, engine, image.name).touch()
    if room is not None and not is_here:
        _make_room(engine, layout, room, {*in_use, method}, accelerator)
    return image


def room_for_images() -> int | None:
    """The bytes that images may take on this machine, or None where nobody has said so."""
    text = os.environ.get(ROOM_VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not int(text):
        todo = "write a whole number of GiB, or unset it"
        raise UsageError(f"no size: {text}", where=f"${ROOM_VARIABLE}", todo=todo)
    return int(text) << 30


def _make_room(
    engine: BuildEngine, layout: Layout, room: int, kept: Collection[str], accelerator: Accelerator
) -> None:
    """Remove methods' images, the one that was used longest ago first, until all images fit or none is left."""
    used = {}
    for method in (name for name in method_names(layout) if name not in kept):
        # another method may have no such variant, or one that was never recorded
        with suppress(HarnessError, FileNotFoundError):
            receipt = receipt_path(layout, engine, image_name(layout, method, accelerator))
            used[method] = receipt.stat().st_mtime
    for method in sorted(used, key=used.__getitem__):
        # with what other images share counted once
        if engine.client.df()["LayersSize"] <= room:
            return
        remove_images(engine, layout, method, accelerator)


def _handed(name: str, supply: Supply) -> Path | None:
    files = (_file_in(mirror, name) for mirror in mirror_folders(supply.mirrors))
    return next((file for file in files if file.is_file()), None)


def _file_in(mirror: Path, image: str) -> Path:
    return mirror / _FOLDER / f"{image.rpartition('/')[2].replace(':', '-')}.tar"
