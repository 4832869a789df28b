"""What an image holds is read from its files, once for each id."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.base.seal import only_new_notes, write_note
from harness.images import export as held
from harness.images.trees import TreeEntry, code_of_entries, environment_listing, listing_digest

CODE = {"opt/method/main.py": TreeEntry("file", 0o644, 0, 0, "", "1" * 64, 3)}
FILES = {"usr/a": TreeEntry("file", 0o644, 0, 0, "", "2" * 64, 3)}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of images that were read back."""
    seen: list[str] = []

    def entries(_engine: Any, image: str) -> dict[str, TreeEntry]:
        seen.append(image)
        return FILES | (CODE if image == "sha256:1" else {})

    monkeypatch.setattr(held, "image_entries", entries)
    monkeypatch.setattr(held, "image_config", lambda *_: {})
    return seen


ENGINE: Any = SimpleNamespace(name="docker", socket=Path("/nowhere"))


def test_trees_come_from_files_and_each_image_is_read_once(reads: list[str], tmp_path: Path) -> None:
    layout = Layout(root=tmp_path, cache=tmp_path, local=tmp_path)
    environment = listing_digest(environment_listing(FILES, {}))
    for _ in range(2):
        first, second = (held.held_trees(ENGINE, layout, image) for image in ("sha256:1", "sha256:2"))
        assert (first.environment_tree, first.code_tree) == (environment, code_of_entries(CODE))
        assert (second.environment_tree, second.code_tree) == (environment, code_of_entries({}))
    assert reads == ["sha256:1", "sha256:2"]
    with only_new_notes():
        for _ in range(2):
            held.held_trees(ENGINE, layout, "sha256:1")
    assert reads == ["sha256:1", "sha256:2", "sha256:1"], "once more, for who believes no note"


@pytest.mark.parametrize("damage", ["{", '{"image_id": "sha256:2"}', ""])
def test_what_is_kept_counts_only_whole_and_for_its_own_image(
    reads: list[str], tmp_path: Path, damage: str
) -> None:
    layout = Layout(root=tmp_path, cache=tmp_path, local=tmp_path)
    other = held.held_trees(ENGINE, layout, "sha256:2").model_dump_json()
    right = held.held_trees(ENGINE, layout, "sha256:1")
    for path in (tmp_path / "images" / "held").iterdir():
        path.write_text(damage or other)
    assert held.held_trees(ENGINE, layout, "sha256:1") == right
    assert reads == ["sha256:2", "sha256:1", "sha256:1"]


def test_what_was_found_by_other_rules_is_found_anew(
    reads: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A code tree over bytes is no code tree over meanings, and the image has the same id."""
    layout = Layout(root=tmp_path, cache=tmp_path, local=tmp_path)
    held.held_trees(ENGINE, layout, "sha256:1")
    monkeypatch.setattr(held, "_RULES", "bytes")
    held.held_trees(ENGINE, layout, "sha256:1")
    assert reads == ["sha256:1", "sha256:1"]


def test_a_note_about_one_image_that_tells_of_another_is_none(reads: list[str], tmp_path: Path) -> None:
    layout = Layout(root=tmp_path, cache=tmp_path, local=tmp_path)
    other = held.held_trees(ENGINE, layout, "sha256:2")
    write_note(tmp_path / "images" / "held", ["sha256:1", held._RULES], other.model_dump())
    assert held.held_trees(ENGINE, layout, "sha256:1").image_id == "sha256:1"
    assert reads == ["sha256:2", "sha256:1"]
