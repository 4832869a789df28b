"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing where a program reads."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, Protocol, Self, TextIO

from harness.base.heartbeat import PULSE


class Progress(Protocol):
    """What long work tells a person. May be called from several threads."""

    def begin(self, title: str, total: int) -> None:
        """A new stretch of work with `total` steps."""

    def step(self, text: str) -> None:
        """One step is done."""

    def note(self, text: str) -> None:
        """Something worth knowing happened."""


class Silent:
    """Progress that shows nothing, for programs and tests."""

    def begin(self, title: str, total: int) -> None:
        """Nothing."""

    def step(self, text: str) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


class ProgressLines:
    """One line a step, with a count and the time so far."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._lock = threading.Lock()
        self._total = self._done = 0
        self._began = time.monotonic()

    def begin(self, title: str, total: int) -> None:
        """Write the title."""
        with self._lock:
            self._total, self._done, self._began = total, 0, time.monotonic()
            self._say(title)

    def step(self, text: str) -> None:
        """Write the line, with its number and the time so far."""
        with self._lock:
            self._done += 1
            self._say(f"  [{self._done}/{self._total} {time.monotonic() - self._began:5.0f} s] {text}")

    def note(self, text: str) -> None:
        """Write the line."""
        with self._lock:
            self._say(f"  {text}")

    def _say(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()
        PULSE.heard()


class ProgressBar:
    """A live bar on a terminal; what is worth keeping scrolls above it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar: Any = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[activity]}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: Any = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def begin(self, title: str, total: int) -> None:
        """Start a new bar."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(title, total=total, activity="")

    def step(self, text: str) -> None:
        """Move the bar and keep the line."""
        self._bar.console.print(f"  {text}", markup=False, highlight=False)
        self._bar.advance(self._task)

    def note(self, text: str) -> None:
        """Keep the line."""
        self._bar.console.print(f"  {text}", markup=False, highlight=False)

    def live(self, text: str) -> None:
        """Show what is being done beside the bar, which is alive by itself."""
        if self._task is not None:
            self._bar.update(self._task, activity=text)


# What a person chooses: their own, none, or what suits the place ("auto").
ProgressChoice = Progress | Literal["auto"] | None


@contextmanager
def progress_for(choice: ProgressChoice = "auto") -> Iterator[Progress]:
    """The progress that was chosen; "auto" is a bar on a terminal, and lines elsewhere."""
    if choice is None:
        yield Silent()
    elif choice != "auto":
        yield choice
    elif sys.stderr.isatty():
        with ProgressBar() as bar, PULSE.speaker(bar.live):
            yield bar
    else:
        yield ProgressLines()
