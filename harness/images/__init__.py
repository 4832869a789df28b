"""Frozen environments and their images: asked for, locked, fetched, built with the network off, verified."""

from __future__ import annotations

from harness.images.build import ensure_environment, ensure_image, remove_images
from harness.images.cards import refuse_unless_usable
from harness.images.fetch import Supply
from harness.images.handover import take_image
from harness.images.identity import code_fault, code_tree, image_name, image_tree
from harness.images.parts import missing_parts
from harness.images.preparation import built_size, needed_parts, recorded_size
from harness.images.receipts import BuiltImage
from harness.images.trees import folder_tree

__all__ = [
    "BuiltImage",
    "Supply",
    "built_size",
    "code_fault",
    "code_tree",
    "ensure_environment",
    "ensure_image",
    "folder_tree",
    "image_name",
    "image_tree",
    "missing_parts",
    "needed_parts",
    "recorded_size",
    "refuse_unless_usable",
    "remove_images",
    "take_image",
]
