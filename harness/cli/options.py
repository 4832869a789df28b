"""Options and small habits that several commands share."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from harness.errors import UsageError
from harness.progress import Bar, Lines, Progress, Silent

Command = TypeVar("Command", bound=Callable[..., Any])

# What numpy's legacy generator takes, which draws every split.
SEED = click.IntRange(min=0, max=2**32 - 1)
_SAME_WISH_S = 1.0


def mirror_option(command: Command) -> Command:
    """`--mirror DIR`, repeatable; $PERMAFROST_MIRROR names more, separated by colons."""
    return click.option(
        "--mirror",
        "mirrors",
        multiple=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        envvar="PERMAFROST_MIRROR",
        show_envvar=True,
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


def refuse_unknown(kind: str, names: Iterable[str], known: Iterable[str], *, where: object = "") -> None:
    """A filter that names nothing would show an empty table, which looks as if all were well."""
    from harness.methods import unknown

    choice = sorted(set(known))
    for name in names:
        if name not in choice:
            raise unknown(kind, name, choice, where=str(where))


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
    """The first Ctrl-C (or SIGTERM) asks for a clean end; one that comes a second later or more ends at once.

    A handler runs in the midst of anything, even of `Event.set`, so it takes no lock and writes no text: it only
    wakes a thread that does. Signals that come together count as one: `timeout` sends two, to process and group.
    """
    stop = threading.Event()
    waking, wake = os.pipe()
    asked: list[float] = []

    def ask(number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if asked and now - asked[0] >= _SAME_WISH_S:
            raise KeyboardInterrupt
        if not asked:
            asked.append(now)
            os.write(wake, b"!")

    def tell() -> None:
        if os.read(waking, 1):
            stop.set()
            click.echo("stopping: finished runs are kept; once more to stop at once", err=True)

    teller = threading.Thread(target=tell, name="interrupt", daemon=True)
    teller.start()
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(wake)
        teller.join()
        os.close(waking)
