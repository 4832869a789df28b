"""Reading an image back out of its engine: the entries of its root file system, and how its containers start.

What an image holds is read file by file: no name, label or receipt is believed. An id is the digest of that, so
trees are noted by id, under this user's seal, and each image is read once. A change of the rules by which trees
are computed makes the notes stale. `harness image verify` always reads again.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from pydantic import ValidationError

from harness.base.errors import ImageError
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.base.seal import read_note, write_note
from harness.images.builder import BuildEngine
from harness.images.trees import (
    CODE_ROOTS,
    TreeEntry,
    code_of_entries,
    environment_listing,
    listing_digest,
    read_tree,
)

if TYPE_CHECKING:
    from docker.models.containers import Container


_CHUNK = 1 << 20
# What a code tree is computed from: the bytes of its files (no entry here), or their meaning.
_RULES = "meaning 2"


class _Pipe(io.RawIOBase):
    """A stream of pieces that tarfile can read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def image_entries(engine: BuildEngine, image: str) -> dict[str, TreeEntry]:
    """All entries of an image's root file system."""
    with _unstarted_container(engine, image) as container:
        return read_tree(_stream(container.export(chunk_size=_CHUNK)))


def code_entries(engine: BuildEngine, image: str) -> dict[str, TreeEntry]:
    """The entries of the method's code: what a method image has beyond its environment."""
    entries: dict[str, TreeEntry] = {}
    with _unstarted_container(engine, image) as container:
        for root in CODE_ROOTS:
            pieces, _ = container.get_archive(f"/{root}")
            entries |= read_tree(_stream(pieces), root.rpartition("/")[0])
    return entries


def id_of(engine: BuildEngine, name: str) -> str | None:
    """The id that an engine has for an image's name."""
    from docker.errors import ImageNotFound

    try:
        return str(engine.client.images.get(name).id)
    except ImageNotFound:
        return None


def image_config(engine: BuildEngine, image: str) -> dict[str, Any]:
    """The settings an image gives its containers."""
    config: dict[str, Any] = engine.client.images.get(image).attrs["Config"]
    return config


def image_layers(engine: BuildEngine, image: str) -> list[str]:
    """The digests of an image's layers, lowest first."""
    layers: list[str] = engine.client.images.get(image).attrs["RootFS"]["Layers"]
    return layers


def stands_on(engine: BuildEngine, image: str, below: str) -> bool:
    """Whether an image holds all layers of the one below, lowest first."""
    lower = image_layers(engine, below)
    return image_layers(engine, image)[: len(lower)] == lower


def copy_files(engine: BuildEngine, image: str, folder: str, target: Path) -> list[Path]:
    """Copies of the files of one folder of an image, or of one file."""
    paths = []
    with _unstarted_container(engine, image) as container:
        pieces, _ = container.get_archive(f"/{folder}")
        with tarfile.open(fileobj=_stream(pieces), mode="r|") as archive:
            for info in archive:
                stream = archive.extractfile(info)
                if stream is not None:
                    paths.append(target / PurePosixPath(info.name).name)
                    paths[-1].write_bytes(stream.read())
    return paths


def _stream(pieces: Any) -> IO[bytes]:
    """The client library's type stubs call these streams text."""
    return io.BufferedReader(_Pipe(pieces), _CHUNK)


@contextmanager
def _unstarted_container(engine: BuildEngine, image: str) -> Iterator[Container]:
    """A container that is never started; its command only has to exist as text."""
    from docker.errors import APIError

    try:
        container = engine.client.containers.create(
            image, command=["never-started"], network_mode="none", labels={"permafrost": "export"}
        )
    except APIError as error:
        raise ImageError(
            f"the image can't be read back: {error.explanation}", where=image, todo="run `harness doctor`"
        ) from error
    try:
        yield container
    finally:
        container.remove(force=True)


class HeldTrees(Strict):
    """What the files of one image are."""

    image_id: str
    environment_tree: str
    code_tree: str


def held_trees(engine: BuildEngine, layout: Layout, image_id: str) -> HeldTrees:
    """The trees of an image that the engine has."""
    folder, about = layout.cache / "images" / "held", [image_id, _RULES]
    trees = _noted(read_note(folder, about))
    if trees is None or trees.image_id != image_id:
        with activity(f"reading image {image_id.removeprefix('sha256:')[:12]} back"):
            entries = image_entries(engine, image_id)
        trees = HeldTrees(
            image_id=image_id,
            environment_tree=listing_digest(environment_listing(entries, image_config(engine, image_id))),
            code_tree=code_of_entries(entries),
        )
        write_note(folder, about, trees.model_dump())
    return trees


def _noted(content: object) -> HeldTrees | None:
    try:
        return HeldTrees.model_validate(content)
    except ValidationError:
        return None
