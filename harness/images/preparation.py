"""The parts that images need: which ones they are; how large the images are, and a list of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness.base.errors import HarnessError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.cards import Environment, environment_chain, environment_names, layers_of
from harness.images.context import parts_of
from harness.images.identity import environment_image_name, image_name, image_tree, is_method
from harness.images.locks import Part
from harness.images.receipts import receipts_of
from harness.images.record import TreeRecord, read_record, recorded_tree, variant_of


def needed_layers(
    layout: Layout, names: Iterable[str], accelerator: Accelerator = "cpu"
) -> list[tuple[Environment, Accelerator]]:
    """Every environment that the named ones need, in the order of building, each once, with its variant."""
    layers: dict[str, tuple[Environment, Accelerator]] = {}
    for name in names:
        for environment in layers_of(environment_chain(layout, name)):
            for layer in needed_layers(layout, [environment.helper] if environment.helper else []):
                layers.setdefault(layer[0].name, layer)
            layers.setdefault(environment.name, (environment, variant_of(environment, accelerator)))
    return list(layers.values())


def needed_parts(layout: Layout, names: Iterable[str], accelerator: Accelerator = "cpu") -> list[Part]:
    """Every file that the named environments are built from, each once."""
    return parts_of_layers(needed_layers(layout, names, accelerator))


def parts_of_layers(layers: Iterable[tuple[Environment, Accelerator]]) -> list[Part]:
    """Every file that these layers themselves are built from, each once."""
    parts = [part for environment, variant in layers for part in parts_of(environment, variant)]
    return list({part.sha256: part for part in parts}.values())


def recorded_size(layout: Layout, methods: Iterable[str], accelerator: Accelerator = "cpu") -> int:
    """Bytes that the images of these methods take, as recorded; what they share is counted once."""
    return sum(record.added_bytes for _, record in _recorded_layers(layout, methods, accelerator))


def built_size(layout: Layout, methods: Iterable[str], accelerator: Accelerator = "cpu") -> int:
    """The bytes of these that an engine of this system has already, as far as receipts tell."""
    return sum(
        record.added_bytes
        for name, record in _recorded_layers(layout, methods, accelerator)
        if receipts_of(layout, environment_image_name(name, record.tree))
    )


def _recorded_layers(
    layout: Layout, methods: Iterable[str], accelerator: Accelerator
) -> Iterator[tuple[str, TreeRecord]]:
    for environment, variant in needed_layers(layout, methods, accelerator):
        if (record := read_record(environment, variant)) is not None:
            yield environment.name, record


def overview(layout: Layout) -> list[dict[str, Any]]:
    """One row per environment, those that methods share first; of the CPU variant where there is one."""
    rows = [_row(layout, name) for name in environment_names(layout)]
    return sorted(rows, key=lambda row: (row["kind"] == "method", row["name"]))


def _row(layout: Layout, name: str) -> dict[str, Any]:
    """What is known of one environment; of one that can't be read, or holds nothing yet, why it is none."""
    of_method = is_method(layout, name)
    row: dict[str, Any] = {
        "name": name,
        "kind": "method" if of_method else "environment",
        "variant": "cpu",
        "extends": None,
        "tree": "",
        "why": "",
        "image": "",
        "bytes": 0,
        "added_bytes": 0,
        "built": [],
    }
    try:
        chain = environment_chain(layout, name)
    except HarnessError as error:
        return {**row, "why": f"{error.what} ({error.where})"}
    layers = layers_of(chain)
    if not layers:
        return {**row, "why": "nothing is asked for in it or below it"}
    top = layers[-1]
    part = top.card.variants.get("cpu")
    variant: Accelerator = "cuda" if part is None or part.not_lockable else "cpu"
    row |= {"variant": variant, "extends": chain[-1].card.extends}
    if (record := read_record(top, variant)) is not None:
        row |= {"bytes": record.bytes, "added_bytes": record.added_bytes if top.name == name else 0}
    try:
        row["tree"] = tree = (image_tree if of_method else recorded_tree)(layout, name, variant)
        image = image_name(layout, name, variant) if of_method else environment_image_name(top.name, tree)
    except HarnessError as error:
        return {**row, "why": error.what}
    return {**row, "image": image, "built": [one.model_dump() for one in receipts_of(layout, image)]}
