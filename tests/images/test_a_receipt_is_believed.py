"""What an image holds is read from its files, once for each engine and id."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.images import held
from harness.images.trees import Entry, code_of_entries, environment_listing, listing_digest

CODE = {"opt/method/main.py": Entry("file", 0o644, 0, 0, "", "1" * 64, 3)}
FILES = {"usr/a": Entry("file", 0o644, 0, 0, "", "2" * 64, 3)}


def test_trees_come_from_files_and_are_kept_by_engine_and_id(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[tuple[str, str]] = []

    def entries(engine: Any, image: str) -> dict[str, Entry]:
        reads.append((str(engine.socket), image))
        return FILES | (CODE if image == "sha256:1" else {})

    monkeypatch.setattr(held, "_trees", {})
    monkeypatch.setattr(held, "image_entries", entries)
    monkeypatch.setattr(held, "image_config", lambda *_: {})
    engines: list[Any] = [SimpleNamespace(socket=Path(name)) for name in ("/a", "/b")]
    environment = listing_digest(environment_listing(FILES, {}))
    for engine in (*engines, *engines):
        assert held.held_trees(engine, "sha256:1") == (environment, code_of_entries(CODE))
        assert held.held_trees(engine, "sha256:2") == (environment, code_of_entries({}))
    assert sorted(reads) == [(place, image) for place in ("/a", "/b") for image in ("sha256:1", "sha256:2")]
