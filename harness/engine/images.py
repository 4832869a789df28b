"""Importing a tree of files as an image, and saying which one it became, on either engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from harness.base.errors import ImageError

if TYPE_CHECKING:
    from harness.engine.engine import Engine


def import_tree(engine: Engine, archive: bytes, name: str, *, tag: str = "latest") -> str:
    """Import a tar of files under `name`; returns the image's id, which is what can be relied on."""
    # the name is spelt out, because the engines complete short names differently
    answer = engine.api.import_image_from_data(archive, repository=f"localhost/{name}", tag=tag)
    return imported_id(answer)


def imported_id(answer: str) -> str:
    """The id at the end of the engine's stream of messages."""
    for line in reversed(answer.strip().splitlines()):
        status = json.loads(line)
        if "error" in status:
            raise ImageError(f"the engine could not import an image: {status['error']}")
        if str(status.get("status", "")).startswith("sha256:"):
            return str(status["status"])
    raise ImageError("the engine did not name the image it imported")
