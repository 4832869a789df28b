"""A file changes and what was read of it before is still believed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from harness.base.errors import ManifestError
from harness.base.file_state import load_toml_once, state_of
from harness.base.manifests import Strict
from harness.images.trees import code_of_folders


class One(Strict):
    value: int


def _settle(path: Path) -> None:
    """Wait until the file counts as settled, so that its state is one to remember."""
    while state_of(path) != state_of(path):
        time.sleep(0.02)


def test_a_settled_file_has_one_state_and_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("value = 1\n")
    _settle(path)
    assert load_toml_once(path, One) is load_toml_once(path, One)


def test_a_file_that_has_just_changed_is_read_again_each_time(tmp_path: Path) -> None:
    """Written again at once, with as many bytes: its time may be the same."""
    path = tmp_path / "a.toml"
    for value in range(10):
        path.write_text(f"value = {value}\n")
        assert load_toml_once(path, One).value == value


@pytest.mark.parametrize("replaced", [False, True])
def test_a_change_with_the_old_size_and_time_is_seen(tmp_path: Path, replaced: bool) -> None:
    path = tmp_path / "a.toml"
    path.write_text("value = 1\n")
    _settle(path)
    before = path.stat()
    assert load_toml_once(path, One).value == 1
    target = tmp_path / "b.toml" if replaced else path
    target.write_text("value = 2\n")
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    target.replace(path)
    _settle(path)
    assert load_toml_once(path, One).value == 2


def test_a_changed_method_has_another_code_tree_in_the_same_process(tmp_path: Path) -> None:
    code = tmp_path / "method" / "run.py"
    code.parent.mkdir()
    code.write_text("a = 1\n")
    _settle(code)
    before, about = code_of_folders(code.parent), code.stat()
    assert code_of_folders(code.parent) == before
    code.write_text("a = 2\n")
    os.utime(code, ns=(about.st_atime_ns, about.st_mtime_ns))
    _settle(code)
    assert code_of_folders(code.parent) != before


def test_a_fault_is_told_every_time(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("value = true false\n")
    _settle(path)
    for _ in range(2):
        with pytest.raises(ManifestError, match="not valid TOML"):
            load_toml_once(path, One)
