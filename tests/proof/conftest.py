"""Results with a log, a person's key, and commands on them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import group
from harness.proof.history import notes_folder
from harness.proof.plans import LoggedCell, enter_plan
from harness.results.reference import save_reference
from harness.results.store import Store
from tests.fabricate import copy_repository, plan_of, planned_of, put_run, record_seeds

Command = Callable[..., Result]


def make_key(path: Path) -> Path:
    """A key, as a person makes one."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", str(path)]
    subprocess.run(words, check=True)
    return path


def forget_notes() -> None:
    """What this user's notes know of earlier logs goes, as for somebody who never saw any."""
    shutil.rmtree(notes_folder(), ignore_errors=True)


def vouch(layout: Layout, name: str, key: Path) -> None:
    """Let the repository believe a key."""
    public = key.with_name(f"{key.name}.pub").read_text()
    signers = layout.root / "results" / "allowed_signers"
    signers.parent.mkdir(exist_ok=True)
    with signers.open("a") as file:
        file.write(f'{name} namespaces="permafrost-results" {public}')


@pytest.fixture(scope="session")
def prepared(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three planned runs of which one failed and one was never made, those two as reference results, and a key.

    Not to be changed.
    """
    folder = tmp_path_factory.mktemp("prepared")
    layout = copy_repository(repository, folder)
    vouch(layout, "author", make_key(folder / "key"))
    record_seeds(layout, (5, 6, 7))
    first, second, third = plan_of(layout, ["als_wr"], (5, 6, 7)).cells
    with Store(layout.runs).open_log() as (log, _):
        cells = [LoggedCell(planned_of(cell).key, cell.job.label) for cell in (first, second, third)]
        enter_plan(log, "three", cells)
    put_run(layout, planned_of(first))
    put_run(layout, planned_of(second), verdict=Verdict.MEMORY, reason="killed at 1 GiB")
    save_reference(layout, Store(layout.runs))
    return folder


@pytest.fixture
def made(prepared: Path, tmp_path: Path) -> Layout:
    """A copy of what was prepared, for one test to change."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return Layout(root=tmp_path / "repository", cache=tmp_path / "cache", local=tmp_path / "local")


@pytest.fixture
def key(prepared: Path, tmp_path: Path) -> Path:
    """The author's key, which the repository believes."""
    shutil.copy(prepared / "key.pub", tmp_path)
    return Path(shutil.copy(prepared / "key", tmp_path))


@pytest.fixture
def harness(made: Layout, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line in that repository."""
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(made.local))
    monkeypatch.setenv("PERMAFROST_CACHE", str(made.cache))

    def call(*words: str | Path) -> Result:
        from harness.base.errors import HarnessError

        outcome = CliRunner().invoke(group, [str(word) for word in words], standalone_mode=False)
        if isinstance(outcome.exception, HarnessError):
            outcome.exit_code = outcome.exception.exit_code
        elif outcome.exception is not None and outcome.exit_code == 1:
            raise outcome.exception
        elif isinstance(outcome.return_value, int):
            outcome.exit_code = outcome.return_value
        return outcome

    return call
