"""A link or a file of data in a method's folder would bring labels into its image: both are refused by name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.cli import group
from harness.images import code_fault, code_tree, folder_tree
from harness.images.cards import environment_chain
from harness.images.context import fill_environment_context, fill_method_context
from harness.images.sources import MOST_BYTES, code_files
from tests.images.making import Workbench


@pytest.fixture
def mine(repository: Layout, tmp_path: Path) -> Layout:
    """A repository with one method of Python and what lies beside it."""
    root = tmp_path / "root"
    for name in ("constant", "_sdk", "_shared"):
        shutil.copytree(repository.methods / name, root / "methods" / name)
    shutil.copytree(repository.containers, root / "containers")
    shutil.copyfile(repository.root / "Dockerfile", root / "Dockerfile")
    return Layout(root=root, cache=tmp_path / "cache", local=tmp_path / "local")


FOLDERS = ["constant", "_sdk/python"]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", ["notes.py", "part", "weights.npy"])
def test_a_link_is_refused_before_it_is_followed(mine: Layout, tmp_path: Path, folder: str, name: str) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "labels.py").write_text("labels = 1")
    link = mine.methods / folder / name
    link.symlink_to(secret if name == "part" else secret / "labels.py")
    with pytest.raises(ImageError, match="is a link") as caught:
        code_tree(mine, "constant")
    assert caught.value.where == str(link)
    with pytest.raises(ImageError, match="is a link"):
        (tmp_path / "context").mkdir()
        fill_method_context(
            mine, mine.methods / "constant", [mine.methods / "_sdk" / "python"], tmp_path / "context"
        )
    assert not list((tmp_path / "context").rglob("labels*"))


def test_a_dangling_link_and_a_linked_folder_are_refused(mine: Layout, tmp_path: Path) -> None:
    (mine.methods / "constant" / "gone.py").symlink_to(tmp_path / "nowhere")
    assert "gone.py" in code_fault(mine, "constant")
    (mine.methods / "constant" / "gone.py").unlink()
    shutil.move(mine.methods / "constant", tmp_path / "constant")
    (mine.methods / "constant").symlink_to(tmp_path / "constant")
    assert "is a link" in code_fault(mine, "constant")


def test_an_editors_own_link_is_not_code(mine: Layout) -> None:
    before = code_tree(mine, "constant")
    (mine.methods / "constant" / ".#main.py").symlink_to("somebody@machine.1234")
    assert code_tree(mine, "constant") == before


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("weights.npy", b"\x93NUMPY", "is no source file"),
        ("labels.csv", b"1,0\n", "is no source file"),
        ("library.so", b"\x7fELF", "is no source file"),
        ("data", b"1", "is no source file"),
        ("labels.py", b"x = 1\n" * MOST_BYTES, "more than"),
        ("latin.py", "# caf\xe9".encode("latin-1"), "is not UTF-8"),
        ("zero.py", b"x = 1\0", "zero byte"),
    ],
)
@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_no_source_text_is_refused(mine: Layout, folder: str, name: str, content: bytes, why: str) -> None:
    path = mine.methods / folder / name
    path.write_bytes(content)
    with pytest.raises(ImageError, match=why) as caught:
        code_tree(mine, "constant")
    assert caught.value.where == str(path)
    assert "weights" in caught.value.todo


def test_a_pipe_is_refused_and_not_waited_for(mine: Layout) -> None:
    os.mkfifo(mine.methods / "constant" / "pipe.py")
    assert "no regular file" in code_fault(mine, "constant")


@pytest.mark.parametrize("name", [b"\xff.py", b"\x1b[2J.py", b"part\xff"])
def test_a_name_that_is_no_text_is_refused(mine: Layout, name: bytes) -> None:
    """It can be hashed with no other, so that everything about the method was a fault of the harness itself."""
    path = mine.methods / "constant" / os.fsdecode(name)
    if path.suffix:
        path.touch()
    else:
        path.mkdir()
    with pytest.raises(ImageError, match="has a name that can't be shown") as refused:
        code_tree(mine, "constant")
    assert refused.value.where == ascii(str(path)) and refused.value.todo == "rename it"


def test_the_largest_source_is_still_code(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_bytes(b"#" * (256 << 10))
    assert code_files(tmp_path) == ["main.py"]
    (tmp_path / "main.py").write_bytes(b"#" * ((256 << 10) + 1))
    with pytest.raises(ImageError) as refused:
        code_files(tmp_path)
    assert refused.value.what == "what an image would be made of has 262145 bytes, more than 262144"


@pytest.mark.parametrize("name", ["new.sh", "folder", "."])
def test_a_link_among_the_recipes_is_refused(bench: Workbench, tmp_path: Path, name: str) -> None:
    link = bench.layout.containers / "_recipe" / name
    if name == ".":
        shutil.move(link, tmp_path / "elsewhere")
        link.symlink_to(tmp_path / "elsewhere")
    else:
        link.symlink_to("/etc")
    (tmp_path / "context").mkdir()
    with pytest.raises(ImageError, match="is a link") as refused:
        fill_environment_context(
            bench.layout, environment_chain(bench.layout, "_base"), "cpu", tmp_path / "context"
        )
    assert refused.value.where == str(link)


def test_the_self_test_says_so_before_it_builds(mine: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    (mine.methods / "constant" / "weights.npy").write_bytes(b"\x93NUMPY")
    monkeypatch.setattr("harness.cli.new.find_layout", lambda: mine)
    monkeypatch.setattr("harness.conformance.self_test", lambda *_: pytest.fail("built"))
    result = CliRunner().invoke(group, ["new", "check", "constant"], standalone_mode=False)
    assert result.return_value == 1, result.output
    assert "constant: its folders hold source text, and no links or data: FAILED" in result.output
    assert "weights.npy" in result.output


def test_a_checkout_that_changed_without_changing_its_size_is_another(tmp_path: Path) -> None:
    (tmp_path / "a.m").write_text("x = 1;")
    before = folder_tree(tmp_path)
    (tmp_path / "a.m").write_text("x = 2;")
    assert folder_tree(tmp_path) != before


def test_a_checkout_whose_files_lie_in_other_folders_is_another(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
    (tmp_path / "one" / "a.m").write_text("x = 1;")
    before = folder_tree(tmp_path)
    (tmp_path / "one" / "a.m").rename(tmp_path / "other" / "a.m")
    assert folder_tree(tmp_path) != before


def test_a_checkouts_links_are_named_and_not_followed(tmp_path: Path) -> None:
    checkout, secret = tmp_path / "checkout", tmp_path / "secret"
    checkout.mkdir()
    secret.write_text("1")
    (checkout / "a.m").symlink_to(secret)
    before = folder_tree(checkout)
    secret.write_text("2")
    assert folder_tree(checkout) == before
    (checkout / "a.m").unlink()
    (checkout / "a.m").symlink_to("/elsewhere")
    assert folder_tree(checkout) != before
    before = folder_tree(checkout)
    (checkout / "below").mkdir()
    (checkout / "a.m").rename(checkout / "below" / "a.m")
    assert folder_tree(checkout) != before, "one that lies elsewhere is another"
    (checkout / "below" / "a.m").rename(checkout / "a.m")
    (checkout / "below").rmdir()
    assert folder_tree(checkout) == before
    (checkout / ".git").mkdir()
    (checkout / ".git" / "HEAD").write_text("x")
    # of a repository within it, too
    (checkout / "part" / ".git").mkdir(parents=True)
    (checkout / "part" / ".git" / "HEAD").write_text("x")
    assert folder_tree(checkout) == before
    (checkout / "a.m").unlink()
    assert folder_tree(checkout) == folder_tree(_emptied(tmp_path))


@pytest.mark.parametrize("name", [".gitattributes", ".gitmodules", ".github/a.m", "part/.gitignore"])
def test_what_is_only_called_like_gits_own_folder_is_of_a_checkout(tmp_path: Path, name: str) -> None:
    before = folder_tree(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("x = 1;")
    assert folder_tree(tmp_path) != before


def _emptied(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


CODE = (
    *("main.py", "a.m", "b.R", "c.r", "D.java", "below/e.py", "tests.py"),
    *("weights.txt.py", "weights.toml.py", "weights-a.py"),
)
NO_CODE = (
    *("method.toml", "weights.toml", "weights.large_1.toml", "tests/x.py", "below/tests/x.py", "parity/x.py"),
    *("__pycache__/x.pyc", ".ipynb_checkpoints/x.py", ".hide", ".hidden/x.py", "x.pyc", "x.pyo", "README.md"),
    *("x.swp", "x.py~", "x.py.orig", "x.py.rej", "x.RData", "x.Rhistory"),
)


def test_what_goes_into_an_image_is_code_and_nothing_else(tmp_path: Path) -> None:
    for name in (*CODE, *NO_CODE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert code_files(tmp_path) == sorted(CODE)


@pytest.mark.parametrize("name", ["weights.a-b.toml", "weightsx.toml", "my.weights.toml", "x.md.txt", "card.toml"])
def test_what_only_looks_like_a_card_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(ImageError) as refused:
        code_files(tmp_path)
    assert refused.value.what == (
        "what an image would be made of is no source file (.py, .m, .R, .r, .java)"
    ) and refused.value.where == str(tmp_path / name)
    assert refused.value.todo == (
        "if the method needs it, declare it as an input of the card, or as weights (weights.toml), "
        "so that audits can see it"
    )
