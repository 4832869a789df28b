"""Options and small habits that several commands share."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from harness.errors import UsageError
from harness.progress import Bar, Lines, Progress, Silent

Command = TypeVar("Command", bound=Callable[..., Any])


def mirror_option(command: Command) -> Command:
    """`--mirror DIR`, repeatable; $PERMAFROST_MIRROR names more, separated by colons."""
    return click.option(
        "--mirror",
        "mirrors",
        multiple=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        envvar="PERMAFROST_MIRROR",
        help="A folder with original data files, laid out by URL; may be repeated.",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="For programs.")(command)


def parse_setting(text: str) -> tuple[str, Any]:
    """`name=value`, the value read as JSON where it is JSON, else as text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"'{text}' sets nothing", where="--set", todo="write it as name=value")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@contextmanager
def progress_for(*, quiet: bool = False) -> Iterator[Progress]:
    """A bar on a terminal, lines elsewhere, nothing when `quiet`."""
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        with Bar() as bar:
            yield bar
    else:
        yield Lines()


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """The first Ctrl-C (or SIGTERM) asks for a clean end; a second one ends at once."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        click.echo("stopping: finished runs are kept; once more to stop at once", err=True)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
