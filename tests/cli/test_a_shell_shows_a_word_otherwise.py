"""A shell shows words with what they do and paths of the right kind, from outlines that are made once."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from harness.cli import group
from harness.cli.completion import outline_of, outlined
from tests.cli.test_a_shell_completes_something_else import completed
from tests.cli.test_an_option_is_dropped import COMMANDS
from tests.conftest import REPOSITORY


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("PERMAFROST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "local"))


def test_a_damaged_outline_is_made_again(tmp_path: Path) -> None:
    outlined("diff", lambda: COMMANDS["diff",])
    (path,) = (tmp_path / "cache" / "completion").glob("*/diff.json")
    whole = path.read_text()
    assert json.loads(whole) == outline_of("diff", COMMANDS["diff",])
    path.write_text("{")
    assert outlined("diff", lambda: COMMANDS["diff",]).get_short_help_str() == (
        COMMANDS["diff",].get_short_help_str()
    )
    assert path.read_text() == whole


def test_a_word_is_shown_with_what_it_does() -> None:
    assert completed("ru") == {"run": "Run a suite, or one method on one split."}
    assert {"--data", "--version", "--help"} <= completed("--").keys()
    assert completed("data", "ge") == {"get": COMMANDS["data", "get"].get_short_help_str()}
    (method,) = [one for one in COMMANDS["run",].params if one.name == "methods"]
    assert isinstance(method, click.Option) and method.help
    assert completed("run", "--meth") == {"--method": method.help}
    both = [one.opts[0] for one in COMMANDS["run",].params if one.secondary_opts]
    assert both and all(one in completed("run", "--") for one in both)
    assert completed("image", "sbom", "--accelerator", "CU").keys() == {"cuda"}


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("run --mirror ", "dir"),
        ("audit --key ", "file"),
        ("compare --against ", "file"),
        ("run --method bn", "plain"),
    ],
)
def test_a_path_is_completed_as_what_it_has_to_be(typed: str, kind: str) -> None:
    words = typed.split(" ")
    shell = ShellComplete(group, {}, "harness", "_HARNESS_COMPLETE")
    assert {one.type for one in shell.get_completions(words[:-1], words[-1])} == {kind}


def test_an_outline_is_of_the_whole_harness_and_older_ones_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stamped: list[Path] = []
    names = iter(("first", "second"))

    def stamp(package: Path) -> str:
        stamped.append(package)
        return next(names)

    monkeypatch.setattr("harness.cli.completion._stamp", stamp)
    outlined("diff", lambda: COMMANDS["diff",])
    kept = tmp_path / "cache" / "completion"
    # a file that nobody knows is no hindrance
    (kept / "stray").write_text("")
    outlined("diff", lambda: COMMANDS["diff",])
    assert stamped == [REPOSITORY / "harness"] * 2
    assert [one.name for one in kept.iterdir() if one.is_dir()] == ["second"]
