"""Receipts: which image id an engine gave to what was built and verified, so that nothing is built or hashed twice."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from harness.files import digest_of, write_atomic
from harness.images.builder import BuildEngine
from harness.layout import Layout
from harness.manifests import Strict


class Receipt(Strict):
    """One verified image of one engine."""

    engine: str
    name: str
    image_id: str
    environment_tree: str
    code_tree: str
    size_bytes: int
    # Seconds the engine took; 0 if the image was found and verified.
    built_seconds: float


def receipt_path(layout: Layout, engine: BuildEngine, name: str) -> Path:
    """Where the receipt of an image lies. Engines with stores of their own have receipts of their own."""
    store = str(engine.client.info().get("DockerRootDir", ""))
    return layout.cache / "images" / digest_of([engine.name, store])[:12] / _file_name(name)


def read_receipt(path: Path) -> Receipt | None:
    """A receipt, or None if there is none that can be read."""
    try:
        return Receipt.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def receipts_of(layout: Layout, name: str) -> list[Receipt]:
    """The receipts that all engines of this system have for an image."""
    paths = sorted((layout.cache / "images").glob(f"*/{_file_name(name)}"))
    return [receipt for path in paths if (receipt := read_receipt(path)) is not None]


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Keep a receipt."""
    write_atomic(path, receipt.model_dump_json(indent=2) + "\n")


@contextmanager
def building(layout: Layout) -> Iterator[None]:
    """One builder at a time: others wait, then find what they wanted."""
    folder = layout.cache / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "building.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _file_name(name: str) -> str:
    return f"{digest_of(name)[:24]}.json"
