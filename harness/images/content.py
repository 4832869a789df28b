"""The trees that an image holds, read back file by file: no name, label or receipt is believed.

An id is the digest of what an image holds, so trees are cached by id and each image is read once; a change of the
rules by which trees are computed makes the cache stale. `harness image verify` always reads again.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from harness.base.files import digest_of, write_atomic
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.images.builder import BuildEngine
from harness.images.export import image_config, image_entries
from harness.images.trees import code_of_entries, environment_listing, listing_digest

# What a code tree is computed from: the bytes of its files (no entry here), or their meaning.
_RULES = "meaning 1"


class HeldTrees(Strict):
    """What the files of one image are."""

    image_id: str
    environment_tree: str
    code_tree: str


def held_trees(engine: BuildEngine, layout: Layout, image_id: str) -> HeldTrees:
    """The trees of an image that the engine has."""
    path = layout.cache / "images" / "held" / f"{digest_of([image_id, _RULES])[:24]}.json"
    trees = _cached(path)
    if trees is None or trees.image_id != image_id:
        entries = image_entries(engine, image_id)
        trees = HeldTrees(
            image_id=image_id,
            environment_tree=listing_digest(environment_listing(entries, image_config(engine, image_id))),
            code_tree=code_of_entries(entries),
        )
        write_atomic(path, trees.model_dump_json(indent=2) + "\n")
    return trees


def _cached(path: Path) -> HeldTrees | None:
    try:
        return HeldTrees.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
