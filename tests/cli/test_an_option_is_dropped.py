"""A value that was given is used or refused: of two for one option, none silently counts for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from harness.cli import group, main
from harness.cli.options import OnceCommand


def commands(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that can be typed, with the words before it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        member = command.get_command(context, name)
        assert member is not None
        yield from commands(member, *path, name)


COMMANDS = dict(commands(group))
SINGLE = [
    (path, option.opts[0])
    for path, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option) and not (option.is_flag or option.multiple)
]


def test_every_command_looks_for_it() -> None:
    assert len(SINGLE) > 50
    assert [path for path, command in COMMANDS.items() if not isinstance(command, OnceCommand)] == []


@pytest.mark.parametrize(("path", "option"), SINGLE, ids=lambda value: "".join(value))
def test_a_second_value_is_refused(path: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*path, option, "1", f"{option}=2"])
    assert ended.value.code == 2
    assert f"{option} is given twice" in capsys.readouterr().err


def test_a_second_value_behind_other_options_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["status", "--suite", "smoke", "--cells", "--metric", "x", "--metric", "y"])
    assert ended.value.code == 2 and "--metric is given twice" in capsys.readouterr().err


def test_a_second_value_before_the_command_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--data", str(tmp_path), f"--data={tmp_path}", "list", "datasets"])
    assert ended.value.code == 2
    assert "--data is given twice. It takes one value." in capsys.readouterr().err


@click.command(cls=OnceCommand)
@click.option("--method", multiple=True)
@click.option("--seed")
@click.option("--install/--no-install")
def several(method: tuple[str, ...], seed: str, install: bool) -> None:
    """What may be repeated, beside what may not."""
    click.echo(f"{method} {seed} {install}")


def test_what_may_be_repeated_is(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--method", "a", "--install", "--seed", "7", "--method", "b", "--no-install"]
    several.main(arguments, standalone_mode=False)
    assert capsys.readouterr().out == "('a', 'b') 7 False\n"
