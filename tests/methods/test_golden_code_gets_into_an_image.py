"""What replays golden cases is in no image and no key: making a replay stricter makes no result stale."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.images.identity import code_folders, code_tree, parity_folders
from harness.images.sources import code_files
from harness.methods.card import load_method, load_methods


@pytest.fixture
def mine(repository: Layout, tmp_path: Path) -> Layout:
    """Methods of one's own to change."""
    shutil.copytree(repository.methods, tmp_path / "methods")
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


@pytest.mark.parametrize("path", ["tiger/parity/golden.py", "_shared/ddi_training/parity/golden_cases.py"])
def test_a_changed_replay_changes_no_tree(mine: Layout, path: str) -> None:
    before = {card.name: code_tree(mine, card.name) for card in load_methods(mine)}
    with (mine.methods / path).open("a") as stream:
        stream.write("STRICTER = 1\n")
    assert {name: code_tree(mine, name) for name in before} == before
    assert (mine.methods / path).parent in parity_folders(mine, load_method(mine, "tiger"))
    with (mine.methods / "tiger" / "network.py").open("a") as stream:
        stream.write("STRICTER = 1\n")
    assert {name for name, tree in before.items() if code_tree(mine, name) != tree} == {"tiger"}


def test_no_image_holds_a_replay(repository: Layout) -> None:
    for card in load_methods(repository):
        held = {name for folder in code_folders(repository, card.name) for name in code_files(folder)}
        assert not [name for name in held if "parity" in name or "golden" in name], card.name


def test_every_task_of_a_card_has_its_replay(repository: Layout) -> None:
    for card in load_methods(repository):
        for table in card.parity:
            if table.task != "predict":
                folder = repository.methods / card.name / "parity"
                if card.language == "octave":
                    assert (folder / f"{table.task}.m").is_file(), card.name
                else:
                    # there, or of a folder that methods share
                    text = (folder / "golden.py").read_text()
                    assert re.search(rf"def {table.task}\(|import {table.task} as {table.task}\n", text), card.name
