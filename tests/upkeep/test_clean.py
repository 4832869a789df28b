"""A clean-up takes what nobody owns and nothing else, and says what it takes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.cli import group
from harness.engine import Engine
from harness.images.parts import incoming
from harness.upkeep import clean

LEAVE = """
import os, sys
from pathlib import Path
from harness.base.ownership import own_folder
(own_folder(Path(sys.argv[1])) / "run-1").mkdir()
os.kill(os.getpid(), 9)
"""


class FakeImages:
    """Answers like an engine with some images."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        self.api = self.client = self
        self.name, self.socket = "podman", Path("/run/fake-listed.sock")
        self.listed: list[dict[str, Any]] = [
            {
                "Id": "sha256:1",
                "RepoTags": ["localhost/permafrost/bnnr:1"],
                "Created": 2,
                "Size": 10,
                "Labels": None,
            },
            {"Id": "sha256:2", "RepoTags": ["debian:12"], "Created": 1, "Size": 20, "Labels": {}},
            {"Id": "sha256:3", "RepoTags": None, "Created": 3, "Size": 30, "Labels": {"permafrost": "method"}},
        ]

    def info(self) -> dict[str, Any]:
        return {"DockerRootDir": "/var/lib/fake"}

    def images(self) -> list[dict[str, Any]]:
        return self.listed

    def containers(self, **_: object) -> list[dict[str, Any]]:
        return []

    def remove_image(self, name: str) -> None:
        self.removed.append(name)


@pytest.fixture
def abandoned(layout: Layout) -> Path:
    """A temporary folder of a harness that was killed."""
    ended = subprocess.run([sys.executable, "-c", LEAVE, str(layout.local / "work")], check=False)
    assert ended.returncode == -signal.SIGKILL
    (folder,) = (layout.local / "work").iterdir()
    return folder


def test_only_abandoned_folders_go(layout: Layout, abandoned: Path) -> None:
    mine = own_folder(layout.local / "work")
    (layout.runs / "ab").mkdir(parents=True)
    assert [removal.name for removal in clean(layout, None)] == [str(abandoned)]
    assert not abandoned.exists() and mine.exists() and (layout.runs / "ab").exists()


def test_what_a_killed_fetch_left_goes(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    ended = subprocess.run([sys.executable, "-c", LEAVE, str(incoming(layout))], check=False)
    assert ended.returncode == -signal.SIGKILL
    (left,) = incoming(layout).iterdir()
    (layout.parts / "ab").mkdir()
    assert [removal.name for removal in clean(layout, None)] == [str(left)]
    assert not left.exists() and (layout.parts / "ab").exists()


def test_a_dry_run_removes_nothing(layout: Layout, abandoned: Path) -> None:
    engine = FakeImages()
    removals = list(clean(layout, cast(Engine, engine), images=True, dry_run=True))
    assert {removal.kind for removal in removals} == {"temporary folder", "image"}
    assert abandoned.exists() and engine.removed == []


def test_only_our_images_go(layout: Layout) -> None:
    engine = FakeImages()
    removals = list(clean(layout, cast(Engine, engine), images=True))
    assert engine.removed == ["sha256:3", "localhost/permafrost/bnnr:1"]
    assert [removal.bytes for removal in removals] == [30, 10]


def test_the_cache_goes_only_when_asked_and_results_never(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    for path in (layout.parts / "0a", layout.cache / "engine" / "docker", layout.runs / "ab"):
        path.mkdir(parents=True)
    assert list(clean(layout, None)) == []
    assert [removal.kind for removal in clean(layout, None, cache=True)] == ["cache"]
    assert not layout.parts.exists() and (layout.cache / "engine").exists() and (layout.runs / "ab").exists()


def test_the_command_works_without_an_engine(
    abandoned: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
    monkeypatch.setenv("PERMAFROST_RESULTS", str(layout.local))
    result = CliRunner().invoke(group, ["clean", "--json"], standalone_mode=False)
    assert result.return_value == 0, result.output
    assert [entry["name"] for entry in json.loads(result.stdout)["rows"]] == [str(abandoned)]
    assert not abandoned.exists()
