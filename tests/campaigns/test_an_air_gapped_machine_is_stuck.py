"""docs/air-gap.md, done: a machine without a network gets from an empty disk to an audited run, and is cleaned."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.engine import Engine
from harness.engine.programs import find_program, is_root
from harness.engine.service import services_folder
from harness.images.fetch import export_parts
from harness.images.preparation import needed_parts
from harness.images.transport import save_images
from tests.conftest import REPOSITORY

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

METHOD = "constant"
RUN = ["--no-install", f"--method={METHOD}", "--dataset=synthetic", "--seed=1"]


@pytest.fixture(scope="module")
def disk(engine: Engine, repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a person brings: wheels, an image, and the parts of the same image."""
    folder = tmp_path_factory.mktemp("disk")
    download = [
        "download",
        "--quiet",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder / "wheels"),
    ]
    lock = REPOSITORY / "requirements" / "run.lock"
    done = subprocess.run(
        [sys.executable, "-m", "pip", *download, "--requirement", str(lock)], capture_output=True
    )
    if done.returncode:
        pytest.skip(f"needs an index of Python packages: {done.stderr.decode()[-300:]}")
    save_images(engine, repository, [METHOD], folder / "images.tar")
    export_parts(repository, needed_parts(repository, [METHOD]), folder / "parts")
    return folder


class Machine:
    """A tree and a cache that begin empty, in a network name space with nothing in it."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.cache, self._home = folder / "tree", folder / "cache", folder / "home"
        self._home.mkdir()
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=REPOSITORY,
            capture_output=True,
            check=True,
        )
        for name in listed.stdout.decode().split("\0"):
            if (source := REPOSITORY / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, self.tree / name)

    def __call__(self, *command: str, code: int = 0, **variables: str) -> str:
        """The output of a command, which ends with this code."""
        inherited = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        places = {"HOME": str(self._home), "PERMAFROST_CACHE": str(self.cache)}
        done = subprocess.run(
            ["unshare", "--net", *command],
            cwd=self.tree,
            env={**inherited, **places, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout
        return done.stdout


@pytest.fixture(scope="module")
def machine(disk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    if not (is_root() and find_program("dockerd")):
        pytest.skip("needs root and the program dockerd, to serve an engine without a network")
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode:
        pytest.skip("needs network name spaces")
    made = Machine(tmp_path_factory.mktemp("machine"))
    made("bash", "-c", "! exec 3<>/dev/tcp/127.0.0.1/9")
    said = made("./run_all.sh", "--dry-run", *RUN, PIP_NO_INDEX="1", code=3)
    assert "docs/air-gap.md" in said, "without wheels a person is told where to read"
    made("./run_all.sh", "--dry-run", *RUN, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(disk / "wheels"))
    yield made
    shutil.rmtree(services_folder(made.cache, {}), ignore_errors=True)


def test_images_come_in_one_file(machine: Machine, disk: Path) -> None:
    assert "verified" in machine(".venv/bin/harness", "image", "load", str(disk / "images.tar"))
    assert "1 ok" in machine("./run_all.sh", *RUN)
    assert "1 passed" in machine(".venv/bin/harness", "audit", "--all", "--replay", "1")
    leaves_nothing(machine)


def test_images_are_built_from_parts(machine: Machine, disk: Path) -> None:
    machine(".venv/bin/harness", "image", "build", METHOD, "--offline", "--mirror", str(disk / "parts"))
    assert "nothing is left to do" in machine("./run_all.sh", *RUN)
    leaves_nothing(machine)


def leaves_nothing(machine: Machine) -> None:
    """What `clean --all` announces, it removes; results stay."""
    announced = machine(".venv/bin/harness", "clean", "--all", "--dry-run")
    assert "would remove images and build cache" in announced and machine.cache.is_dir()
    removed = machine(".venv/bin/harness", "clean", "--all")
    assert not machine.cache.exists() and not services_folder(machine.cache, {}).exists()
    assert announced.replace("would remove", "removed").splitlines()[0] == removed.splitlines()[0]
    assert list((machine.tree / "results" / "local" / "runs").iterdir())
