"""Which trees an image holds, read back file by file: no name, label or receipt is believed for it."""

from __future__ import annotations

from harness.images.builder import BuildEngine
from harness.images.export import image_config, image_entries
from harness.images.trees import code_of_entries, environment_listing, listing_digest

# an id is the digest of what the image holds, so an answer stays true while this process lives
_trees: dict[tuple[str, str], tuple[str, str]] = {}


def held_trees(engine: BuildEngine, image_id: str) -> tuple[str, str]:
    """The environment tree and the code tree of an image; read once for each engine and id."""
    about = (str(engine.socket), image_id)
    if about not in _trees:
        entries = image_entries(engine, image_id)
        listing = environment_listing(entries, image_config(engine, image_id))
        _trees[about] = (listing_digest(listing), code_of_entries(entries))
    return _trees[about]
