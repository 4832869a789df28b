"""The list of images: every environment and method with its recorded tree, its size, and what was built here."""

from __future__ import annotations

from typing import Any

from harness.base.errors import HarnessError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.cards import environment_chain, environment_names, layers_of
from harness.images.identity import environment_image_name, image_name, image_tree
from harness.images.receipts import receipts_of
from harness.images.record import read_record, recorded_tree


def overview(layout: Layout) -> list[dict[str, Any]]:
    """One row per environment, those that methods share first; of the CPU variant where there is one."""
    rows = [_row(layout, name) for name in environment_names(layout)]
    return sorted(rows, key=lambda row: (row["kind"] == "method", row["name"]))


def _row(layout: Layout, name: str) -> dict[str, Any]:
    chain = environment_chain(layout, name)
    top = layers_of(chain)[-1]
    part = top.card.variants.get("cpu")
    variant: Accelerator = "cuda" if part is None or part.not_lockable else "cpu"
    record = read_record(top, variant)
    is_method = (layout.methods / name).is_dir()
    tree = image = why = ""
    try:
        tree = (image_tree if is_method else recorded_tree)(layout, name, variant)
        image = image_name(layout, name, variant) if is_method else environment_image_name(top.name, tree)
    except HarnessError as error:
        why = error.what
    return {
        "name": name,
        "kind": "method" if is_method else "environment",
        "variant": variant,
        "extends": chain[-1].card.extends,
        "tree": tree,
        "why": why,
        "image": image,
        "bytes": record.bytes if record is not None else 0,
        "added_bytes": record.added_bytes if record is not None and top.name == name else 0,
        "built": [receipt.model_dump() for receipt in receipts_of(layout, image)] if image else [],
    }
