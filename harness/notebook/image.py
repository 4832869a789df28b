"""The image a notebook runs in: a method's own image, layer for layer, with a Jupyter kernel's packages on top.

What is added is locked, fetched and installed like any environment (`containers/_notebook_LANGUAGE`). The method's
image is not changed by it, and no run ever uses the image made here.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ImageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import Supply, ensure_image, image_tree
from harness.images.builder import build
from harness.images.cards import Environment, environment_chain, epoch_of, language_of, layers_of, load_environment
from harness.images.context import fill_environment_context, parts_of
from harness.images.export import stands_on
from harness.images.identity import PREFIX, combined
from harness.images.lock import held_packages
from harness.images.receipts import CONTEXT, BuiltImage, building, read_receipt, receipt_path, write_receipt
from harness.images.record import lock_digests
from harness.images.stages import tag_image

_DIGITS = 16


@dataclass(frozen=True)
class NotebookImage:
    """A verified image of a method with a kernel's packages on top."""

    name: str
    image_id: str
    # The image below, which is the one that runs use.
    method: BuiltImage
    # The environment whose packages were added, and its language.
    added: str
    language: str


def ensure_notebook_image(engine: Engine, layout: Layout, method: str, *, supply: Supply) -> NotebookImage:
    """The image of a method's notebook, built with the network off if it is not there."""
    below = ensure_image(engine, layout, method, supply=supply)
    language, added = _on_top(layout, method)
    name = _name(method, combined(below.environment_tree, below.code_tree), added)
    path = receipt_path(layout, engine, name)
    receipt = _known(engine, path, below)
    if receipt is None:
        with building(layout):
            # another process may have built it while this one waited
            receipt = _known(engine, path, below)
            if receipt is None:
                supply.fetch(layout, parts_of(added, "cpu"))
                receipt = _build(engine, layout, method, below, added, name)
                write_receipt(path, receipt)
    return NotebookImage(name, receipt.image_id, below, added.name, language)


def notebook_image_name(layout: Layout, method: str) -> str:
    """The name of a method's notebook image; it says what the image holds."""
    return _name(method, image_tree(layout, method), _on_top(layout, method)[1])


def _on_top(layout: Layout, method: str) -> tuple[str, Environment]:
    """The language of a method, and the environment that its notebook adds."""
    language = language_of(environment_chain(layout, method))
    return language, load_environment(layout, f"_notebook_{language}")


def _name(method: str, tree: str, added: Environment) -> str:
    digest = digest_of({"method": tree, **lock_digests(added, "cpu")})
    return f"{PREFIX}/notebook-{method}:{digest[:_DIGITS]}"


def _known(engine: Engine, path: Path, below: BuiltImage) -> BuiltImage | None:
    """The receipt of an image that the engine still has as it was built, on the method's image of today."""
    receipt = read_receipt(path)
    if receipt is None or engine.image_id(receipt.name) != receipt.image_id:
        return None
    # a method's image that was built anew holds the same tree in other layers
    return receipt if stands_on(engine, receipt.image_id, below.image_id) else None


def _build(
    engine: Engine, layout: Layout, method: str, below: BuiltImage, added: Environment, name: str
) -> BuiltImage:
    layers = layers_of(environment_chain(layout, method))
    parent = layout.cache / "images"
    with tempfile.TemporaryDirectory(dir=parent, prefix=CONTEXT) as making:
        folder = Path(making)
        fill_environment_context(layout, [*layers, added], "cpu", folder)
        for package in held_packages(layers):
            (folder / "debs" / package.part.file).unlink(missing_ok=True)
        image_id = build(
            engine,
            folder,
            # the stage of packages alone: settings and entry point stay those of the method's image
            target="debian",
            arguments={"BASE": below.name},
            labels={"permafrost": "notebook", "permafrost.method": method},
            epoch=epoch_of(layers),
        )
    if not stands_on(engine, image_id, below.image_id):
        raise ImageError(
            f"the notebook's image of method '{method}' does not stand on the method's own layers",
            where="looked at right after its build",
            todo="build it again; if images were being removed meanwhile, that is why",
        )
    tag_image(engine, image_id, name)
    image = engine.client.images.get(name)
    return BuiltImage(
        engine=engine.name,
        name=name,
        image_id=str(engine.image_id(name)),
        environment_tree=below.environment_tree,
        code_tree=below.code_tree,
        size_bytes=int(image.attrs["Size"]),
    )
