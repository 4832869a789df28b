"""The repository, its cache and its results are sought where a person keeps them, and no folder has two names."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base import layout as module
from harness.base.errors import UsageError
from harness.base.layout import DATA_VARIABLE, Layout, find_layout

VARIABLES = ("PERMAFROST_CACHE", "PERMAFROST_RESULTS", DATA_VARIABLE, "XDG_CACHE_HOME", "XDG_DATA_HOME")


@pytest.fixture(autouse=True)
def plain_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A person who has set nothing."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What a repository is known by."""
    root = (tmp_path / "tree").resolve()
    (root / "methods" / "one").mkdir(parents=True)
    (root / "run_all.sh").touch()
    return root


def test_everything_lies_where_nobody_set_anything(tree: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert find_layout(tree / "methods" / "one") == Layout(
        root=tree,
        cache=home / ".cache" / "permafrost",
        local=tree / "results" / "local",
        data=home / ".local" / "share" / "permafrost" / "datasets",
    )
    assert find_layout(tree) == find_layout(tree / "methods")


def test_what_a_person_set_decides(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert find_layout(tree).cache == Path("/caches/permafrost")
    monkeypatch.chdir(tmp_path)
    for variable in VARIABLES[:3]:
        monkeypatch.setenv(variable, variable)
    assert find_layout(tree) == Layout(tree, *(tmp_path / variable for variable in VARIABLES[:3]))


def test_the_nearest_tree_around_the_working_folder_is_taken(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tree / "methods" / "inner"
    (inner / "methods").mkdir(parents=True)
    (inner / "run_all.sh").touch()
    monkeypatch.chdir(inner / "methods")
    assert find_layout().root == inner and find_layout(tree / "methods").root == tree


@pytest.mark.parametrize("missing", ["run_all.sh", "methods"])
def test_half_a_tree_is_none_and_the_one_of_the_harness_is_taken(
    tree: Path, tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = tmp_path / "half"
    half.mkdir()
    # of another kind than what is sought
    (half / "run_all.sh").mkdir() if missing == "run_all.sh" else (half / "run_all.sh").touch()
    (half / "methods").touch() if missing == "methods" else (half / "methods").mkdir()
    monkeypatch.setattr(module, "_PACKAGE", tree / "harness")
    assert find_layout(half).root == tree
    monkeypatch.setattr(module, "_PACKAGE", tmp_path / "site" / "harness")
    with pytest.raises(UsageError) as refused:
        find_layout(half)
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "this is not a Permafrost repository",
        str(half.resolve()),
        "change into the folder that holds run_all.sh",
    )


def test_a_tree_with_another_harness_is_refused_and_its_own_by_another_way_is_not(tree: Path) -> None:
    (tree / "harness").symlink_to(module._PACKAGE)
    assert find_layout(tree).root == tree
    (tree / "harness").unlink()
    (tree / "harness").mkdir()
    with pytest.raises(UsageError, match="the harness that runs is not the one of this tree") as refused:
        find_layout(tree)
    assert refused.value.where == f"tree {tree}, harness {module._PACKAGE}"
    assert refused.value.todo == (
        "start .venv/bin/harness of this tree; after a copy or a move ./run_all.sh makes its .venv"
    )
    assert find_layout(tree.parent).root == module._PACKAGE.parent


def test_the_benchmarks_are_those_of_the_harness_that_runs(repository: Layout) -> None:
    elsewhere = Layout(Path("/r"), Path("/c"), Path("/l"))
    assert elsewhere.benchmarks == repository.root / "harness" / "benchmarks"


def test_a_folder_behind_a_link_is_named_by_both_ways_and_the_root_of_all_by_none(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    layout = Layout(Path("/"), tmp_path / "link", Path("/l"))
    text = f"{tmp_path}/link/one, {tmp_path}/disk/two, /three"
    assert layout.without_folders(text) == "CACHE/one, CACHE/two, /three"
