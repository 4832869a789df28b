"""A repository with made-up environments over an empty cache, for builds that nothing executes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from harness.base.layout import Layout
from harness.images import context
from harness.images.cards import Environment, EnvironmentCard


def sha_of(content: bytes) -> str:
    """The sha256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


class Site:
    """A repository with made-up environments, whose parts are in the store."""

    def __init__(self, folder: Path) -> None:
        self.layout = Layout(root=folder / "root", cache=folder / "cache", local=folder / "local")
        recipe = self.layout.containers / "_recipe"
        recipe.mkdir(parents=True)
        (recipe / "packages.sh").write_text("recipe")
        (self.layout.root / "Dockerfile").write_text("FROM scratch")
        self.folder = folder

    def store(self, content: bytes) -> str:
        """Put a part into the store; its sha256."""
        place = self.layout.parts / sha_of(content)[:2] / sha_of(content)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        return sha_of(content)

    def environment(self, name: str, **card: Any) -> Environment:
        """One environment."""
        folder = self.layout.containers / name
        folder.mkdir()
        return Environment(name, folder, EnvironmentCard(summary="x", **card))

    def fill(self, *chain: Environment, accelerator: Any = "cpu") -> dict[str, bytes]:
        """All that the last one is built from, by path."""
        target = self.folder / "context"
        target.mkdir()
        context.fill_environment_context(self.layout, chain, accelerator, target)
        return {
            path.relative_to(target).as_posix() + ("/" if path.is_dir() else ""): b""
            if path.is_dir()
            else path.read_bytes()
            for path in target.rglob("*")
        }
