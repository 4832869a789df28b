"""What can be typed after each command and what its help says; run as a program it keeps both anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from harness.cli import group
from harness.cli.names import Word
from harness.cli.output import OutputFile
from tests.cli.test_an_option_is_dropped import COMMANDS

KEPT = Path(__file__).parent / "kept" / "commands.txt"
AGAIN = "look at the difference; if it is meant: python -m tests.cli.command_lines"


def current() -> str:
    """Every command with its text, its arguments and its options, with all that decides what they take."""
    blocks = [_block("harness", group), *(_block(" ".join(path), one) for path, one in COMMANDS.items())]
    return "\n\n".join(blocks) + "\n"


def _block(words: str, command: click.Command) -> str:
    # the brief text is what a list of commands shows
    texts = [f"{words}: {command.get_short_help_str(limit=200)}", *(command.help or "").splitlines()]
    texts += (command.epilog or "").splitlines()
    # a line of nothing but \\b keeps the breaks of the paragraph below it
    texts = [line.rstrip().replace("\b", "(as it stands)") for line in texts]
    return "\n".join([*(line for line in texts if line), *map(_line, command.params)])


def _line(one: click.Parameter) -> str:
    names = " ".join([*one.opts, *one.secondary_opts])
    facts = " ".join(f"{name}={value}" for name, value in _facts(one))
    return f"  {names} [{facts}] {getattr(one, 'help', None) or ''}".rstrip()


def _facts(one: click.Parameter) -> Iterator[tuple[str, object]]:
    """What differs from an option that takes one text."""
    kind = one.type
    yield "name", one.name
    yield "type", type(kind).__name__
    if isinstance(kind, click.IntRange | click.FloatRange):
        yield "range", f"{kind.min}..{kind.max}"
    if isinstance(kind, click.Path):
        wanted = ("exists", "file_okay", "dir_okay", "resolve_path", "allow_dash")
        yield "path", ",".join(name for name in wanted if getattr(kind, name))
    if isinstance(kind, OutputFile):
        yield "endings", ",".join(kind._endings)
    if isinstance(kind, Word):
        yield "words", ",".join(kind.choices)
    default = one.default() if callable(one.default) else one.default
    usual = {"required": False, "multiple": False, "is_flag": False, "nargs": 1, "envvar": None, "metavar": None}
    flags = {name: getattr(one, name, value) for name, value in usual.items()}
    yield from ((name, value) for name, value in flags.items() if value != usual[name])
    if isinstance(default, str | int | float | tuple) and default not in ((), False):
        yield "default", repr(default)
    if getattr(one, "show_default", None):
        yield "shown", "default"


if __name__ == "__main__":
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(current(), encoding="utf-8")
