"""Frozen environments and the images built from them: asked for, locked, fetched, built with the network off, verified."""

from __future__ import annotations

from harness.images.build import BuiltImage, ensure_environment, ensure_image
from harness.images.cards import Accelerator, refuse_unless_usable
from harness.images.identity import code_tree, environment_tree, image_name, image_tree
from harness.images.record import recorded_size

__all__ = [
    "Accelerator",
    "BuiltImage",
    "code_tree",
    "ensure_environment",
    "ensure_image",
    "environment_tree",
    "image_name",
    "image_tree",
    "recorded_size",
    "refuse_unless_usable",
]
