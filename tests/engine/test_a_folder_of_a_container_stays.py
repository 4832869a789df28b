"""Whatever a container has put into a folder is removed, by its owner and by root, and nothing beside it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine.leftovers import names_in, open_folder, remove_tree
from tests.engine.children import NOBODY, become_nobody, in_child, leave_the_mounts

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in which anybody may write."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def fill(tree: Path) -> None:
    """Folders side by side and below each other with equal names, closed ones, files, links and a pipe."""
    for path in ("a/a/a/a", "a/b/c", "b/a/a", "b/b/b", "c"):
        (tree / path).mkdir(parents=True)
    for path in ("file", "a/file", "a/a/file", "a/a/a/a/file", "b/b/file"):
        (tree / path).write_text("x")
    os.mkfifo(tree / "a" / "pipe")
    for path in ("link", "a/link", "a/a/link"):
        (tree / path).symlink_to(tree.parent / "keep")
        (tree / f"{path} to nothing").symlink_to("nowhere")
    # nobody may look into these, change them or move them
    for path in ("a/a/a/a", "a/a/a", "a/b/c", "a/b", "a/a", "a", "b", "c"):
        (tree / path).chmod(0)
    tree.chmod(0)


@as_root
@pytest.mark.parametrize("user", ["root", "nobody"])
def test_all_of_it_goes_and_nothing_beside_it(place: Path, user: str) -> None:
    (place / "keep").mkdir()
    (place / "keep" / "file").touch()
    tree = place / "tree"

    def work() -> object:
        tree.mkdir()
        fill(tree)
        before = len(list(Path("/proc/self/fd").iterdir()))
        return remove_tree(tree), tree.exists(), len(list(Path("/proc/self/fd").iterdir())) - before

    assert in_child(become_nobody if user == "nobody" else lambda: None, work) == "([], False, 0)"
    assert [path.name for path in place.iterdir()] == ["keep"] and (place / "keep" / "file").exists()


def test_folders_below_each_other_beyond_any_path_are_removed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    depth = os.open(tree, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 200, dir_fd=depth)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=depth)
        os.close(depth)
        depth = inner
    os.close(depth)
    assert remove_tree(tree) == [] and not tree.exists()


@as_root
def test_a_folder_that_is_mounted_is_emptied_and_named(tmp_path: Path) -> None:
    held = tmp_path / "mounted"
    held.mkdir()

    def work() -> object:
        subprocess.run(["mount", "-t", "tmpfs", "none", held], check=True)
        (held / "file").touch()
        return remove_tree(held), list(held.iterdir())

    assert in_child(leave_the_mounts, work) == str(([f"{held}: Device or resource busy"], []))


@as_root
def test_what_stays_is_named_with_its_reason_and_the_rest_goes(place: Path) -> None:
    """A folder of somebody else, in which there is something."""
    tree = place / "tree"
    for name in ("others", "theirs"):
        (tree / name / "inner").mkdir(parents=True)
    tree.chmod(0o777)

    def work() -> object:
        (tree / "mine").mkdir()
        (tree / "mine" / "file").touch()
        return sorted(remove_tree(tree)), sorted(path.name for path in tree.iterdir())

    faults = [f"{tree / name}: Permission denied" for name in ("others", "theirs")]
    assert in_child(become_nobody, work) == str((faults, ["others", "theirs"]))


@as_root
@pytest.mark.parametrize("mode", [0o500, 0o600, 0o300, 0])
def test_the_owner_of_a_folder_has_all_rights_again(tmp_path: Path, mode: int) -> None:
    """Also where root opens it for its owner."""
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    os.chown(folder, NOBODY, NOBODY)
    folder.chmod(mode)
    handle = open_folder(folder)
    assert names_in(handle) == ["inner"] and not os.get_inheritable(handle)
    os.close(handle)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@as_root
def test_a_folder_of_somebody_else_is_opened_as_far_as_it_may_be(place: Path) -> None:
    folder = place / "folder"
    (folder / "inner").mkdir(parents=True)
    folder.chmod(0o555)
    assert in_child(become_nobody, lambda: names_in(open_folder(folder))) == "['inner']"
    # all rights are there: nothing is changed
    folder.chmod(0o755)
    os.close(open_folder(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_neither_a_link_nor_a_file_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "file").touch()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("link", "file"):
        with pytest.raises(NotADirectoryError):
            open_folder(tmp_path / name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
