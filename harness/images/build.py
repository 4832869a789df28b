"""Images come to be here: built if they are missing, verified against the repository's record, never trusted by name."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ImageError
from harness.images.builder import BuildEngine, build
from harness.images.cards import (
    Accelerator,
    Environment,
    environment_chain,
    epoch_of,
    language_of,
    layers_of,
)
from harness.images.context import fill_environment_context, fill_method_context
from harness.images.export import code_entries, image_config, image_entries, image_layers
from harness.images.identity import PREFIX, code_tree, environment_image_name, image_name
from harness.images.receipts import Receipt, building, read_receipt, receipt_path, write_receipt
from harness.images.record import (
    TreeRecord,
    lock_digests,
    read_record,
    recorded_listing,
    recorded_tree,
    variant_of,
    write_record,
)
from harness.images.trees import code_of_entries, differing_folders, environment_listing, listing_digest
from harness.layout import Layout

_NAMED = 8


@dataclass(frozen=True)
class BuiltImage:
    """An image that exists in the engine and was verified."""

    engine: str
    name: str
    image_id: str
    environment_tree: str
    code_tree: str
    size_bytes: int
    built_seconds: float = 0.0


def ensure_image(engine: BuildEngine, layout: Layout, method: str, accelerator: Accelerator = "cpu") -> BuiltImage:
    """The image of a method, built now if it isn't there."""
    name = image_name(layout, method, accelerator)
    found = _known(engine, layout, name)
    if found is not None:
        return found
    with building(layout):
        found = _known(engine, layout, name)
        if found is not None:
            return found
        environment = _ensure_environment(engine, layout, method, accelerator)
        return build_method(engine, layout, method, environment, name=name)


def ensure_environment(
    engine: BuildEngine, layout: Layout, name: str, accelerator: Accelerator = "cpu"
) -> BuiltImage:
    """The image of an environment without any method's code."""
    with building(layout):
        return _ensure_environment(engine, layout, name, accelerator)


def record_environment(
    engine: BuildEngine, layout: Layout, name: str, accelerator: Accelerator = "cpu"
) -> TreeRecord:
    """Build an environment as its locks say and write down what came out; its parents must be recorded."""
    layers = layers_of(environment_chain(layout, name))
    environment = layers[-1]
    variant = variant_of(environment, accelerator)
    with building(layout):
        parent = _ensure_environment(engine, layout, layers[-2].name, accelerator) if layers[1:] else None
        image_id, listing, files, size, seconds = _build_environment(engine, layout, layers, variant, parent)
        record = TreeRecord(
            tree=listing_digest(listing),
            parent=parent.environment_tree if parent else "",
            files=files,
            bytes=size,
            added_bytes=size - _recorded_bytes(layers[:-1], accelerator),
            locks=lock_digests(environment, variant),
        )
        write_record(environment, variant, record, listing)
        image = environment_image_name(environment.name, record.tree)
        _keep(engine, layout, image, image_id, record.tree, "", seconds)
    return record


def build_method(
    engine: BuildEngine, layout: Layout, method: str, environment: BuiltImage, *, name: str, cached: bool = True
) -> BuiltImage:
    """Put a method's code on top of its environment and prove that nothing else was added."""
    chain = environment_chain(layout, method)
    code = code_tree(layout, method)
    started = time.monotonic()
    with _context(layout) as folder:
        sdk = layout.methods / "_sdk" / language_of(chain)
        fill_method_context(layout, layout.methods / method, sdk, folder)
        image_id = build(
            engine,
            folder,
            target="method",
            arguments={"ENVIRONMENT": environment.name},
            labels={"permafrost": "method", "permafrost.method": method, "permafrost.code": code},
            epoch=epoch_of(chain),
            cached=cached,
        )
    seconds = time.monotonic() - started
    below = image_layers(engine, environment.name)
    if image_layers(engine, image_id)[: len(below)] != below:
        raise _wrong(name, "is not built on its environment's layers")
    if code_of_entries(code_entries(engine, image_id)) != code:
        raise _wrong(name, "does not hold the code that the repository holds")
    return _keep(engine, layout, name, image_id, environment.environment_tree, code, seconds)


def compare_with_record(
    environment: Environment, accelerator: Accelerator, listing: str, record: TreeRecord
) -> None:
    """Raise, naming the first folders that differ, unless a listing is the recorded one."""
    tree = listing_digest(listing)
    if tree == record.tree:
        return
    folders = differing_folders(recorded_listing(environment, accelerator, record), listing)
    named = ", ".join(folders[:_NAMED]) + (f" and {len(folders) - _NAMED} more" if len(folders) > _NAMED else "")
    raise ImageError(
        f"environment '{environment.name}' came out as tree {tree[:16]}, recorded is {record.tree[:16]}",
        where=f"what differs: {named}",
        todo="if recipe or locks were changed on purpose, accept it with "
        f"`harness image build {environment.name} --record`; else restore them",
    )


def _ensure_environment(engine: BuildEngine, layout: Layout, name: str, accelerator: Accelerator) -> BuiltImage:
    layers = layers_of(environment_chain(layout, name))
    environment = layers[-1]
    variant = variant_of(environment, accelerator)
    tree = recorded_tree(layout, name, accelerator)
    image = environment_image_name(environment.name, tree)
    found = _known(engine, layout, image)
    if found is not None:
        return found
    parent = _ensure_environment(engine, layout, layers[-2].name, accelerator) if layers[1:] else None
    image_id, listing, _, _, seconds = _build_environment(engine, layout, layers, variant, parent)
    record = read_record(environment, variant)
    assert record is not None  # recorded_tree() would have refused
    compare_with_record(environment, variant, listing, record)
    return _keep(engine, layout, image, image_id, tree, "", seconds)


def _build_environment(
    engine: BuildEngine,
    layout: Layout,
    layers: list[Environment],
    accelerator: Accelerator,
    parent: BuiltImage | None,
    *,
    cached: bool = True,
) -> tuple[str, str, int, int, float]:
    """Returns image id, listing, number of files, bytes in them, seconds."""
    arguments = {"ACCELERATOR": accelerator}
    target = "base"
    if parent is not None:
        arguments["BASE"] = parent.name
        target = language_of(layers)
    started = time.monotonic()
    with _context(layout) as folder:
        fill_environment_context(layout, layers, accelerator, folder)
        steps = [(target, arguments)]
        conda = layers[-1].card.conda
        if conda is not None:
            installer = _ensure_environment(engine, layout, conda.installer, "cpu")
            steps.insert(0, ("conda", {**arguments, "CONDA_INSTALLER": installer.name}))
        image_id = _build_steps(engine, folder, steps, layers, cached=cached)
    seconds = time.monotonic() - started
    entries = image_entries(engine, image_id)
    listing = environment_listing(entries, image_config(engine, image_id))
    sizes = [entry.size for entry in entries.values() if entry.kind == "file"]
    return image_id, listing, len(sizes), sum(sizes), seconds


def _build_steps(
    engine: BuildEngine,
    folder: Path,
    steps: list[tuple[str, dict[str, str]]],
    layers: list[Environment],
    *,
    cached: bool,
) -> str:
    """Build one stage after another in one context, each on the one before."""
    image_id = ""
    for number, (target, arguments) in enumerate(steps):
        base = {}
        if image_id:
            name = f"{PREFIX}/step-{layers[-1].name.strip('_')}:{number}"
            tag_image(engine, image_id, name)
            base = {"BASE": name}
            # What the first step installed need not be installed again.
            for package in (folder / "debs").iterdir():
                package.unlink()
        image_id = build(
            engine,
            folder,
            target=target,
            arguments={**arguments, **base},
            labels={"permafrost": "environment", "permafrost.environment": layers[-1].name},
            epoch=epoch_of(layers),
            cached=cached,
        )
        if base:
            engine.client.images.remove(base["BASE"], noprune=True)
    return image_id


def _recorded_bytes(parents: list[Environment], accelerator: Accelerator) -> int:
    if not parents:
        return 0
    record = read_record(parents[-1], variant_of(parents[-1], accelerator))
    return record.bytes if record is not None else 0


def _known(engine: BuildEngine, layout: Layout, name: str) -> BuiltImage | None:
    """An image that has a receipt and is still the one the receipt speaks of."""
    from docker.errors import ImageNotFound

    receipt = read_receipt(receipt_path(layout, engine, name))
    if receipt is None:
        return None
    try:
        image_id = str(engine.client.images.get(name).id)
    except ImageNotFound:
        return None
    if image_id != receipt.image_id:
        raise ImageError(
            f"image {name} was replaced: its id is {image_id}, verified was {receipt.image_id}",
            where=f"{engine.name} at {engine.socket}",
            todo=f"remove it ({engine.name} rmi {name}) and build it again with `harness image build`",
        )
    return _built(receipt)


def _keep(
    engine: BuildEngine, layout: Layout, name: str, image_id: str, environment: str, code: str, seconds: float
) -> BuiltImage:
    tag_image(engine, image_id, name)
    attrs = engine.client.images.get(name).attrs
    receipt = Receipt(
        engine=engine.name,
        name=name,
        image_id=str(engine.client.images.get(name).id),
        environment_tree=environment,
        code_tree=code,
        size_bytes=int(attrs["Size"]),
        built_seconds=round(seconds, 1),
    )
    write_receipt(receipt_path(layout, engine, name), receipt)
    return _built(receipt)


def _built(receipt: Receipt) -> BuiltImage:
    return BuiltImage(**receipt.model_dump())


def tag_image(engine: BuildEngine, image_id: str, name: str) -> None:
    """Give an image a name."""
    repository, tag = name.rsplit(":", 1)
    engine.client.images.get(image_id).tag(repository, tag)


def _wrong(name: str, why: str) -> ImageError:
    return ImageError(f"image {name} {why}", where="after its build", todo="report this; nothing was kept")


@contextmanager
def _context(layout: Layout) -> Iterator[Path]:
    """A folder beside the store of parts, so that parts can be hard-linked into it."""
    parent = layout.cache / "images"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix="context-") as name:
        yield Path(name)
