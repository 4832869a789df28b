"""Images and engines as answers."""

from __future__ import annotations

from typing import Literal

from harness.cli.documents.forms import Answer, Fields
from harness.images.receipts import BuiltImage
from harness.images.transport import SavedImage
from harness.materials.updates import NewerPackage


class ImageRow(Fields):
    """What is recorded of an environment or a method's image, and what was built here."""

    name: str
    kind: Literal["environment", "method"]
    variant: str
    extends: str | None
    tree: str
    why: str
    image: str
    bytes: int
    added_bytes: int
    built: list[BuiltImage]


class Images(Answer):
    """`harness image list`."""

    rows: list[ImageRow]


class LockRow(Fields):
    """The lock files of an environment."""

    name: str
    locks: list[str]


class MissingPart(Fields):
    """A file that an image is built from; `path` is below the root of an archive, or NAME==VERSION for pip."""

    kind: str
    file: str
    sha256: str
    size: int | None
    path: str


class Locks(Answer):
    """`harness image lock`."""

    rows: list[LockRow]


class Parts(Answer):
    """`harness image fetch` and `export`: how many parts are in a folder, and how many of them are new.

    `images` are the files of images that `export --images` has there, `missing` the parts that are not here, which
    `fetch --dry-run` lists.
    """

    folder: str
    parts: int
    new: int
    images: list[str] = []
    missing: list[MissingPart] = []


class Builds(Answer):
    """`harness image build`."""

    rows: list[BuiltImage]


class ImageCheck(Fields):
    """One thing that was checked of an image; `fault` is empty where it holds."""

    image: str
    check: str
    detail: str
    fault: str
    seconds: float
    ok: bool


class ImageVerification(Answer):
    """`harness image verify`."""

    rows: list[ImageCheck]


class Outdated(Answer):
    """`harness image outdated`: locked packages that an archive has newer, or not at all."""

    packages: int
    newer: list[NewerPackage]
    absent: list[str]
    suites: list[str]


class SavedImageFile(Answer):
    """`harness image save`: what is in the file, and what was proved of it."""

    file: str
    bytes: int
    format: Literal[1]
    images: list[SavedImage]


class LoadedImages(Answer):
    """`harness image load`."""

    rows: list[BuiltImage]


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "image build": (Builds,),
    "image export": (Parts,),
    "image fetch": (Parts,),
    "image list": (Images,),
    "image load": (LoadedImages,),
    "image lock": (Locks,),
    "image outdated": (Outdated,),
    "image save": (SavedImageFile,),
    "image verify": (ImageVerification,),
}
