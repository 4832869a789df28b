"""Make sure an image exists: build it if it is missing, verify it against the recorded tree, trust no name."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base.errors import ImageError
from harness.base.few import few_in_line
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.vocabulary import Accelerator
from harness.images.builder import BuildEngine
from harness.images.cards import Environment, environment_chain, layers_of
from harness.images.export import id_of, image_config, image_entries
from harness.images.fetch import Supply
from harness.images.identity import code_tree, environment_image_name, image_name
from harness.images.preparation import parts_of_layers
from harness.images.receipts import BuiltImage, building, read_receipt, receipt_path, write_receipt
from harness.images.record import (
    TreeRecord,
    lock_digests,
    read_record,
    recorded_listing,
    recorded_tree,
    variant_of,
    write_record,
)
from harness.images.stages import EnvironmentBuild, make_environment, make_method, tag_image
from harness.images.trees import code_of_entries, differing_folders, environment_listing, listing_digest

_MOST_FOLDERS = 8


def ensure_image(
    engine: BuildEngine,
    layout: Layout,
    method: str,
    accelerator: Accelerator = "cpu",
    *,
    supply: Supply | None = None,
) -> BuiltImage:
    """The verified image of a method; missing parts are fetched, missing layers built with the network off."""
    code, tree = code_tree(layout, method), recorded_tree(layout, method, accelerator)
    name = image_name(layout, method, accelerator)
    if image := known_image(engine, layout, name, tree, code):
        return image
    with activity(f"image of {method}"), building(layout):
        # Another process may have built it while this one waited.
        if image := known_image(engine, layout, name, tree, code):
            return image
        supply = supply or Supply()
        environment = _ensure(engine, layout, method, accelerator, supply)
        supply.announce(f"building the image of {method}")
        image_id, seconds = make_method(engine, layout, method, environment.name)
        image = _keep(engine, layout, name, image_id, tree, code, seconds)
        if others := _others(engine, name):
            # none is removed unasked: another clone may need it, or a run that was begun before the edit
            to_do = "harness clean --old-images removes those that this tree needs no more"
            supply.announce(f"{counted(len(others), 'other image')} of {method} here: {to_do}")
        return image


def _others(engine: BuildEngine, name: str) -> set[str]:
    """The names of other versions of an image."""
    repository = name.rpartition(":")[0]
    tags = {tag for image in engine.client.images.list(repository) for tag in image.tags}
    return {tag for tag in tags if tag.rpartition(":")[0] == repository and tag != name}


def ensure_environment(
    engine: BuildEngine,
    layout: Layout,
    name: str,
    accelerator: Accelerator = "cpu",
    *,
    supply: Supply | None = None,
) -> BuiltImage:
    """The image of an environment without any method's code."""
    with activity(f"image of {name}"), building(layout):
        return _ensure(engine, layout, name, accelerator, supply or Supply())


def remove_images(engine: BuildEngine, layout: Layout, method: str, accelerator: Accelerator = "cpu") -> None:
    """Remove a method's image and its environments but the base, which all stand on, with their receipts."""
    from docker.errors import APIError, ImageNotFound

    names = [image_name(layout, method, accelerator)]
    for environment in reversed(layers_of(environment_chain(layout, method))[1:]):
        record = read_record(environment, variant_of(environment, accelerator))
        names += [environment_image_name(environment.name, record.tree)] if record else []
    for name in names:
        try:
            engine.client.images.remove(name)
        except ImageNotFound:
            pass
        except APIError as error:
            # in use by a container or below another image: the engine refuses, and is right
            if error.status_code != 409:
                raise
            continue
        receipt_path(layout, engine, name).unlink(missing_ok=True)


def record_environment(
    engine: BuildEngine,
    layout: Layout,
    name: str,
    accelerator: Accelerator = "cpu",
    *,
    supply: Supply | None = None,
) -> TreeRecord:
    """The new record of an environment, built as its locks say; its parents must be recorded."""
    layers = layers_of(environment_chain(layout, name))
    environment, variant = layers[-1], variant_of(layers[-1], accelerator)
    with building(layout):
        build, below = _make(engine, layout, layers, accelerator, supply or Supply())
        parent = read_record(layers[-2], variant_of(layers[-2], accelerator)) if layers[1:] else None
        record = TreeRecord(
            tree=build.tree,
            parent=below,
            files=len(build.sizes),
            bytes=sum(build.sizes),
            added_bytes=sum(build.sizes) - (parent.bytes if parent is not None else 0),
            locks=lock_digests(environment, variant),
        )
        write_record(environment, variant, record, build.listing)
        image = environment_image_name(environment.name, record.tree)
        _keep(engine, layout, image, build.image_id, record.tree, "", build.seconds)
    return record


def compare_with_record(
    environment: Environment, accelerator: Accelerator, listing: str, record: TreeRecord
) -> None:
    """Raise, naming the first folders that differ, unless a listing is the recorded one."""
    tree = listing_digest(listing)
    if tree == record.tree:
        return
    folders = differing_folders(recorded_listing(environment, accelerator, record), listing)
    raise ImageError(
        f"environment '{environment.name}' came out as tree {tree[:16]}, recorded is {record.tree[:16]}",
        where=f"what differs: {few_in_line(folders, _MOST_FOLDERS)}",
        todo="if recipe or locks were changed on purpose, accept it with "
        f"`harness image build {environment.name} --record`; else restore them",
    )


def known_image(
    engine: BuildEngine, layout: Layout, name: str, environment: str, code: str = ""
) -> BuiltImage | None:
    """The image of this name, if the engine has it and it holds these trees; an environment has no code tree.

    An image without a receipt, or with another id than its receipt, was made elsewhere (another clone, another
    cache): it is read back whole, and accepted if its trees are right.
    """
    receipt = read_receipt(receipt_path(layout, engine, name))
    if (image_id := id_of(engine, name)) is None:
        return None
    if receipt is not None and image_id == receipt.image_id:
        return receipt
    entries = image_entries(engine, name)
    holds = listing_digest(environment_listing(entries, image_config(engine, name)))
    holds_code = code_of_entries(entries) if code else ""
    trees = (("environment tree", holds, environment), ("code tree", holds_code, code))
    if others := [f"{kind} {has[:16]} instead of {named[:16]}" for kind, has, named in trees if has != named]:
        verified = f", verified was {receipt.image_id}" if receipt is not None else ""
        raise ImageError(
            f"image {name} does not hold what its name says: its id is {image_id}{verified}",
            where=f"{engine.name} at {engine.socket}: {', '.join(others)}",
            todo=f"remove it ({engine.name} rmi -f {name}); it is then built again",
        )
    seconds = receipt.built_seconds if receipt is not None else 0.0
    return _keep(engine, layout, name, image_id, environment, code, seconds)


def _ensure(
    engine: BuildEngine, layout: Layout, name: str, accelerator: Accelerator, supply: Supply
) -> BuiltImage:
    layers = layers_of(environment_chain(layout, name))
    environment, variant = layers[-1], variant_of(layers[-1], accelerator)
    tree = recorded_tree(layout, name, accelerator)
    reference = environment_image_name(environment.name, tree)
    if image := known_image(engine, layout, reference, tree):
        return image
    build, _ = _make(engine, layout, layers, accelerator, supply)
    record = read_record(environment, variant)
    assert record is not None  # recorded_tree() would have refused
    compare_with_record(environment, variant, build.listing, record)
    return _keep(engine, layout, reference, build.image_id, tree, "", build.seconds)


def _make(
    engine: BuildEngine,
    layout: Layout,
    layers: Sequence[Environment],
    accelerator: Accelerator,
    supply: Supply,
) -> tuple[EnvironmentBuild, str]:
    """A build of the last layer, and its parent's tree."""
    variant = variant_of(layers[-1], accelerator)
    supply.fetch(layout, parts_of_layers([(layers[-1], variant)]))
    parent = _ensure(engine, layout, layers[-2].name, accelerator, supply) if layers[1:] else None
    name = layers[-1].helper
    helper = _ensure(engine, layout, name, "cpu", supply) if name is not None else None
    supply.announce(f"building environment {layers[-1].name}")
    build = make_environment(
        engine,
        layout,
        layers,
        variant,
        base=parent.name if parent is not None else None,
        helper=helper.name if helper is not None else None,
    )
    return build, parent.environment_tree if parent is not None else ""


def _keep(
    engine: BuildEngine, layout: Layout, name: str, image_id: str, environment: str, code: str, seconds: float
) -> BuiltImage:
    tag_image(engine, image_id, name)
    image = engine.client.images.get(name)
    built = BuiltImage(
        engine=engine.name,
        name=name,
        image_id=str(image.id),
        environment_tree=environment,
        code_tree=code,
        size_bytes=int(image.attrs["Size"]),
        built_seconds=round(seconds, 1),
    )
    write_receipt(receipt_path(layout, engine, name), built)
    return built
