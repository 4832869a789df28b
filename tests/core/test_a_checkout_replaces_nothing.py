"""A checkout of the authors' own code is run only where it takes the place of ours, as a file or a package."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.images.sources import SUFFIXES, code_files
from harness.images.trees import folder_tree
from harness.methods.card import load_methods
from harness.planning.request import replaceable, upstream_tree


def files_of(layout: Layout, method: str) -> list[str]:
    names = replaceable(layout, method)
    assert names, method
    return names


def test_all_but_the_main_file_and_the_sdk_can_be_replaced(repository: Layout) -> None:
    names = files_of(repository, "lrssl")
    own = {path.name for path in (repository.methods / "lrssl").iterdir()}
    assert "main.R" in own and "main.R" not in names
    assert all(name.endswith(".R") for name in names)
    sdk = {path.name for path in (repository.methods / "_sdk" / "r").iterdir()}
    assert sdk and not sdk & set(names)


def test_shared_files_that_a_method_uses_can_be_replaced_too(repository: Layout) -> None:
    shared = {path.name for path in (repository.methods / "_shared").rglob("*.py") if "parity" not in path.parts}
    names = set(files_of(repository, "mlp"))
    assert names & shared and "main.py" not in names


def test_every_source_file_beside_the_main_one_can_be_replaced(repository: Layout) -> None:
    """Of every method: its own, in their order, then those of the shared folders that it uses."""
    for card in load_methods(repository):
        folders = [repository.methods / card.name, *(repository.methods / "_shared" / name for name in card.uses)]
        files = [Path(name) for folder in folders for name in code_files(folder)]
        sources = [file for file in files if file.suffix in SUFFIXES[card.language]]
        expected = [str(file) for file in sources if file.stem != "main"]
        assert replaceable(repository, card.name) == expected, card.name


def test_a_checkout_with_one_file_of_each_method_is_taken(repository: Layout, tmp_path: Path) -> None:
    name = files_of(repository, "lrssl")[-1]
    place = tmp_path / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("x <- 1\n")
    assert upstream_tree(repository, tmp_path, ["lrssl"]) == folder_tree(tmp_path)
    # one that it does not serve is enough to be refused
    with pytest.raises(UsageError, match="the checkout replaces nothing of 'mlp', so that our own code would run"):
        upstream_tree(repository, tmp_path, ["lrssl", "mlp"])


@pytest.mark.parametrize("how", ["nothing", "main", "folder", "link", "deeper"])
def test_what_would_leave_our_code_in_place_is_refused(repository: Layout, tmp_path: Path, how: str) -> None:
    name = files_of(repository, "lrssl")[0]
    if how == "main":
        (tmp_path / "main.R").write_text("")
    elif how == "folder":
        (tmp_path / name).mkdir(parents=True)
    elif how == "link":
        (tmp_path / "elsewhere").write_text("")
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    elif how == "deeper":
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / name).write_text("")
    with pytest.raises(UsageError) as refused:
        upstream_tree(repository, tmp_path, ["lrssl"])
    assert refused.value.where == f"--upstream {tmp_path}"
    names = ", ".join(files_of(repository, "lrssl"))
    assert refused.value.todo == f"give the folder that itself holds one of these files: {names}"


def test_a_package_takes_the_place_of_a_module(repository: Layout, tmp_path: Path) -> None:
    name = next(name for name in files_of(repository, "mlp") if name.endswith(".py"))
    package = tmp_path / name.removesuffix(".py")
    package.mkdir(parents=True)
    with pytest.raises(UsageError):
        upstream_tree(repository, tmp_path, ["mlp"])
    (package / "__init__.py").write_text("")
    assert upstream_tree(repository, tmp_path, ["mlp"]) == folder_tree(tmp_path)


def test_what_lies_behind_a_link_replaces_nothing(repository: Layout, tmp_path: Path) -> None:
    """As a file of a linked folder, or a package that is a link."""
    source, checkout = tmp_path / "src" / "als", tmp_path / "checkout"
    source.mkdir(parents=True)
    checkout.mkdir()
    (source / "__init__.py").write_text("")
    (checkout / "als").symlink_to(source)
    with pytest.raises(UsageError, match="the checkout replaces nothing of 'als_wr'"):
        upstream_tree(repository, checkout, ["als_wr"])
    # the checkout itself may be one
    (tmp_path / "link").symlink_to(source.parent)
    assert upstream_tree(repository, tmp_path / "link", ["als_wr"]) == folder_tree(source.parent)


def test_a_method_of_one_file_can_not_be_replaced(repository: Layout, tmp_path: Path) -> None:
    assert replaceable(repository, "constant") == []
    with pytest.raises(UsageError) as refused:
        upstream_tree(repository, tmp_path, ["constant"])
    assert refused.value.todo == "leave --upstream out: this method has no file beside its main one"
