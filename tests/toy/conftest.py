"""A copy of the repository with one more benchmark in it, and its own commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.engine import Engine

ADDED = Path(__file__).with_name("tree")
_FOLDERS = ("containers", "datasets", "harness", "methods", "results/published")
_COPIED = ("run_all.sh", "Dockerfile", "pyproject.toml", *_FOLDERS)


@dataclass(frozen=True)
class Tree:
    """The copy."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which the harness of the copy runs, and keeps its results there."""
        return {**os.environ, "PYTHONPATH": str(self.root), "PERMAFROST_RESULTS": str(self.root / "local")}

    def harness(self, *arguments: str, code: int = 0) -> str:
        """What a command prints, which must end with this exit code."""
        done = subprocess.run(
            [sys.executable, "-m", "harness", *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="session")
def tree(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Every file of the toy benchmark is new; none that was there is another."""
    root = tmp_path_factory.mktemp("toy")
    ignored = shutil.ignore_patterns("__pycache__", "own", "local")
    for name in _COPIED:
        source = repository.root / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=ignored)
        else:
            shutil.copyfile(source, root / name)
    for path in ADDED.rglob("*"):
        target = root / path.relative_to(ADDED)
        if path.is_file() and "__pycache__" not in path.parts:
            assert not target.exists(), f"{target} is edited, not added"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return Tree(root)


@pytest.fixture(scope="session")
def finished(tree: Tree, engine: Engine) -> Tree:
    """The copy once its suite was run."""
    assert "2 cells planned = 2 ok" in tree.harness("run", "--suite", "notes-smoke")
    return tree
