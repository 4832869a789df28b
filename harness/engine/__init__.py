"""Container engines: how one is found, served where none runs, and described."""

from __future__ import annotations

from harness.engine.engine import Engine
from harness.engine.find import find_engine
from harness.engine.orphans import find_orphans, remove_orphans

__all__ = ["Engine", "find_engine", "find_orphans", "remove_orphans"]
