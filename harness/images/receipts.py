"""Receipts: which id an engine gave to what was built and verified, so that nothing is hashed twice.

They lie in the cache, which others may be able to write to. So an image is taken for verified only where its
receipt has the seal of this user's harness (`harness.base.seal`) for its place. Else it is read back.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from harness.base.files import digest_of, read_json, write_json
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.base.seal import is_sealed, seal_of
from harness.images.builder import BuildEngine

# Folders that builds work in begin with this.
CONTEXT = "context-"


class BuiltImage(Strict):
    """An image that exists in one engine and was verified."""

    engine: str
    name: str
    image_id: str
    environment_tree: str
    code_tree: str
    size_bytes: int
    # Seconds the engine took; 0 if the image was found and verified.
    built_seconds: float = 0.0


def receipt_path(layout: Layout, engine: BuildEngine, name: str) -> Path:
    """Where the receipt of an image lies. Engines with stores of their own have receipts of their own."""
    return layout.cache / "images" / _store_of(engine) / _file_name(name)


def read_receipt(path: Path, *, of_anybody: bool = False) -> BuiltImage | None:
    """A receipt that this user's harness wrote, or None if there is none; with `of_anybody` whoever wrote it."""
    content = read_json(path)
    if not isinstance(content, dict):
        return None
    seal = content.pop("seal", "")
    try:
        image = BuiltImage.model_validate(content)
    except ValidationError:
        return None
    return image if of_anybody or is_sealed(_about(path), content, seal) else None


def _about(path: Path) -> list[str]:
    """What a seal is of: a receipt in its place, and no copy of it under another image's name."""
    return ["receipt", path.parent.name, path.name]


def receipts_of(layout: Layout, name: str) -> list[BuiltImage]:
    """The receipts that all engines of this system have for an image, as this user's harness wrote them."""
    return [one for path in _receipts(layout, _file_name(name)) if (one := read_receipt(path)) is not None]


def every_receipt(layout: Layout) -> list[BuiltImage]:
    """All receipts of this system, whoever wrote them: they tell where there may be something to clean."""
    found = (read_receipt(path, of_anybody=True) for path in _receipts(layout, "*.json"))
    return [one for one in found if one is not None]


def _receipts(layout: Layout, pattern: str) -> list[Path]:
    return sorted((layout.cache / "images").glob(f"*/{pattern}"))


def write_receipt(path: Path, image: BuiltImage) -> None:
    """Write a receipt."""
    content = image.model_dump()
    write_json(path, {**content, "seal": seal_of(_about(path), content)})


@contextmanager
def building(layout: Layout) -> Iterator[None]:
    """Let one process build at a time; others wait. What a killed builder left behind is removed."""
    lock = _building_lock(layout)
    folder = lock.parent
    folder.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as stream:
        with activity("waiting for another harness, which builds or verifies an image"):
            fcntl.flock(stream, fcntl.LOCK_EX)
        for leftover in folder.glob(f"{CONTEXT}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def is_building(layout: Layout) -> bool:
    """Whether a process builds at the moment."""
    try:
        with _building_lock(layout).open() as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _building_lock(layout: Layout) -> Path:
    return layout.cache / "images" / "building.lock"


_stores: dict[Path, str] = {}


def _store_of(engine: BuildEngine) -> str:
    """A short name for where the engine keeps its images; asked once, because Podman takes its time to answer."""
    if engine.socket not in _stores:
        folder = str(engine.client.info().get("DockerRootDir", ""))
        _stores[engine.socket] = digest_of([engine.name, folder])[:12]
    return _stores[engine.socket]


def _file_name(name: str) -> str:
    return f"{digest_of(name)[:24]}.json"
