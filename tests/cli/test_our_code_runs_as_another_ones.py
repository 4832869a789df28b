"""A run is labelled as the authors' own code only where a file of theirs stands in for one of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.cli import main
from harness.images import folder_tree
from harness.planning.request import replaceable, upstream_tree


@pytest.mark.parametrize(
    ("method", "files"),
    [
        ("als_wr", ["als.py"]),
        ("bnnr", ["BNNR.m", "block_matrix.m", "svt.m"]),
        ("lrssl", ["graphs.R", "lrssl.R"]),
        ("popularity", []),
    ],
)
def test_what_can_be_replaced(layout: Layout, method: str, files: list[str]) -> None:
    assert replaceable(layout, method) == files


def test_shared_code_of_a_method_can_be_replaced_too_and_our_sdk_not(layout: Layout) -> None:
    files = replaceable(layout, "mlp")
    assert {"network.py", "ddi_training.py"} <= set(files)
    assert {"permafrost_sdk.py", "ddi_sdk.py"}.isdisjoint(files)


@pytest.mark.parametrize(
    ("method", "name"),
    [("als_wr", "als.py"), ("als_wr", "als/__init__.py"), ("bnnr", "svt.m"), ("lrssl", "lrssl.R")],
)
def test_one_file_is_enough(layout: Layout, tmp_path: Path, method: str, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("\n")
    (tmp_path / "others.txt").write_text("\n")
    assert upstream_tree(layout, tmp_path, [method]) == folder_tree(tmp_path)


@pytest.mark.parametrize(
    "name", ["main.py", "ALS.py", "als.m", "below/als.py", "als.pyc", "permafrost_sdk.py", "method.toml"]
)
def test_a_folder_that_replaces_nothing_is_refused(layout: Layout, tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("\n")
    with pytest.raises(UsageError, match="replaces nothing of 'als_wr'") as error:
        upstream_tree(layout, tmp_path, ["als_wr"])
    assert "als.py" in error.value.todo and str(tmp_path) in error.value.where


def test_a_link_is_not_taken_along_and_replaces_nothing(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("\n")
    (tmp_path / "als.py").symlink_to("real.py")
    with pytest.raises(UsageError, match="replaces nothing"):
        upstream_tree(layout, tmp_path, ["als_wr"])


def test_each_of_several_methods_must_be_replaced(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "als.py").write_text("\n")
    with pytest.raises(UsageError, match="replaces nothing of 'bnnr'"):
        upstream_tree(layout, tmp_path, ["als_wr", "bnnr"])


def test_the_command_refuses_before_anything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", "--method", "popularity", "--dataset", "synthetic", "--seed", "1"]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--upstream", str(tmp_path)])
    assert ended.value.code == 2
    assert "replaces nothing of 'popularity'" in capsys.readouterr().err
