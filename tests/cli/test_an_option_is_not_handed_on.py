"""What a person gives a command reaches all that the command does: folders of data, what may be installed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from harness.base.errors import HarnessError
from harness.cli import group, main

_INSTALL: dict[str, object] = {"install": False}
_ENGINE: dict[str, object] = {**_INSTALL, "runtime": None}
# Every command that takes mirrors for the repository it opens, with as many words as it needs.
_COMMANDS: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
    "audit": ((), {}),
    "compare": ((), {}),
    "export": (("--output", "crate"), {}),
    "job check": ((".",), {}),
    "job write": (("abc", "kit"), _ENGINE),
    "predict": (("repurposing",), _INSTALL),
    "report": ((), {}),
    "run": (("--suite", "smoke"), _ENGINE),
    "score": ((), {}),
    "show": (("abc",), {}),
}


def _commands(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        if (own := command.get_command(context, name)) is not None:
            yield from _commands(own, (*words, name))


def test_no_command_that_opens_a_repository_with_mirrors_is_left_out() -> None:
    taking = {
        name
        for name, command in _commands(group)
        if any(one.name == "mirrors" for one in command.params)
        and command.callback
        and "open_repository(" in inspect.getsource(inspect.unwrap(command.callback))
    }
    assert taking == {*_COMMANDS}


@pytest.mark.parametrize("name", _COMMANDS)
def test_what_a_person_gives_reaches_the_repository_that_a_command_opens(
    name: str, repository_here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, usual = _COMMANDS[name]
    opened: list[dict[str, Any]] = []

    def stop(**named: Any) -> None:
        opened.append(named)
        raise HarnessError("far enough", where="here", todo="nothing")

    monkeypatch.setattr("harness.api.open_repository", stop)
    mirrors = (tmp_path / "first", tmp_path / "second")
    for folder in mirrors:
        folder.mkdir()
    given = [word for folder in mirrors for word in ("--mirror", str(folder))]
    changed: dict[str, object] = {"install": True} if "install" in usual else {}
    changed |= {"runtime": "runsc"} if "runtime" in usual else {}
    given += ["--install"] * ("install" in usual) + ["--runtime", "runsc"] * ("runtime" in usual)
    for more in ([], given):
        with pytest.raises(SystemExit) as ended:
            main([*name.split(), *words, *more])
        assert ended.value.code == HarnessError.exit_code
    assert opened == [{"mirrors": (), **usual}, {"mirrors": mirrors, **usual, **changed}]
