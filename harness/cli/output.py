"""What commands write: one rule for the kind of a file, for overwriting and for folders that are not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from harness.base.errors import UsageError
from harness.base.output_files import write_output
from harness.base.tables import folded
from harness.cli.options import Command

_KINDS = {
    ".txt": "text",
    ".md": "markdown",
    ".tex": "latex",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".json": "json",
    ".svg": "svg",
    ".pdf": "pdf",
}
_ENDINGS = {kind: ending for ending, kind in _KINDS.items()}
# what a terminal can't show
_BINARY = ("xlsx", "parquet", "pdf")
_FORCE = f"{__name__}.force"
# without it spreadsheets take UTF-8 for the usual encoding of the machine
_MARK = "\ufeff"


class OutputFile(click.Path):
    """The path of a file to write: of a known kind, in a folder that is there, and new unless --force is given."""

    def __init__(self, *endings: str) -> None:
        super().__init__(path_type=Path)
        self._endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, if a file may be written there."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.suffix.lower() not in self._endings:
            known = ", ".join(ending or "none" for ending in self._endings)
            self.fail(f"'{path}' is of no kind that is written here. Known endings: {known}.", param, ctx)
        if not path.parent.is_dir():
            raise UsageError(
                "the folder is not there", where=str(path.parent), todo="make it, or name another one"
            )
        if path.is_dir():
            raise UsageError("a folder has this name", where=str(path), todo="remove it, or choose another name")
        is_link = path.is_symlink() and not path.exists()
        # a device or a pipe has nothing that could be lost
        if (path.is_file() or is_link) and not (ctx and ctx.meta.get(_FORCE)):
            what = "a link to what is not there has this name" if is_link else "the file is there already"
            raise UsageError(what, where=str(path), todo="choose another name, or overwrite it: --force")
        return path


def output_option(
    *kinds: str, help: str = "", names: tuple[str, ...] = ("--output",)
) -> Callable[[Command], Command]:
    """`--output FILE` for files of these kinds (or with these endings), and `--force`."""
    endings = [_ENDINGS.get(kind, kind) for kind in kinds]
    text = help or f"Write to this new file: {', '.join(endings)}."

    def decorate(command: Command) -> Command:
        command = click.option(
            "--force",
            is_flag=True,
            # read before the file is looked at, wherever it stands
            is_eager=True,
            expose_value=False,
            callback=_remember,
            help="Overwrite the file.",
        )(command)
        return click.option(*names, "output", type=OutputFile(*endings), help=text)(command)

    return decorate


def chosen_kind(output: Path | None, options: Mapping[str, str | None], usual: str = "text") -> str:
    """The kind that an option asks for, else that of the file; `options` has the kind that each one asks for."""
    asked = {option: kind for option, kind in options.items() if kind}
    if len({*asked.values()}) > 1:
        raise click.UsageError(f"{' and '.join(asked)} exclude each other")
    option, kind = next(iter(asked.items()), ("", ""))
    of_file = _KINDS[output.suffix.lower()] if output else ""
    if output and kind not in ("", of_file):
        raise click.UsageError(f"{option} and a file called '{output.name}' exclude each other")
    chosen = kind or of_file or usual
    if chosen in _BINARY and output is None:
        raise click.UsageError(f"{chosen} is written to a file: --output NAME{_ENDINGS[chosen]}")
    return chosen


def deliver(content: str | bytes, output: Path | None, note: str = "") -> None:
    """Write the file and say so, or print the text as it is; with --json nothing else is on standard output."""
    if output is None:
        click.echo(content, nl=False)
        return
    if isinstance(content, str) and output.suffix.lower() == ".csv":
        content = _MARK + content
    write_output(output, content)
    command = click.get_current_context(silent=True)
    click.echo(f"written: {output}{note and f' ({note})'}", err=bool(command and command.params.get("as_json")))


def echo_folded(rows: Iterable[Sequence[str]]) -> None:
    """Print rows below each other: as wide as the terminal; a line each where it is none, for other programs."""
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    for line in folded(rows, width):
        click.echo(line)


def _remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_FORCE] = value
