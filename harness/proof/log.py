"""The log: every event of a set of results, one line each, in order of happening. Nothing is ever taken out.

An event that changes a file is written down before it (`log.next`) and enters the log after it. So a harness that
is killed in between leaves no leaf of what did not happen, and nothing that happened without a leaf: the next one
that opens the log looks at the file, and knows.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.base.errors import CorruptData
from harness.base.files import sync_folder, write_atomic, write_json
from harness.base.openers import without_waiting
from harness.base.plain_json import read_plain
from harness.proof.leaves import Event, Leaf, account_of, now, parse_leaf
from harness.proof.tree import leaf_hash, root_of

LOG, NEXT = "log.jsonl", "log.next"


@dataclass(frozen=True)
class Log:
    """The log of the results that lie beside it in `folder`."""

    folder: Path

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / LOG

    def lines(self) -> list[bytes]:
        """Every whole line. What follows the last line's end was never finished, and is no leaf."""
        try:
            with open(self.path, "rb", opener=without_waiting) as stream:
                content = stream.read()
        except FileNotFoundError:
            return []
        return content.split(b"\n")[:-1]

    def each_line(self, start: int = 0) -> Iterator[bytes]:
        """Every whole line from a place in the file, one after the other: there may be a million."""
        with suppress(FileNotFoundError), self.path.open("rb") as stream:
            stream.seek(start)
            for line in stream:
                if line.endswith(b"\n"):
                    yield line[:-1]

    def leaves(self, lines: Sequence[bytes] | None = None) -> list[Leaf]:
        """Every leaf, or those of lines that were read before; `CorruptData` names the line where one is none."""
        every = self.lines() if lines is None else lines
        return [parse_leaf(line, f"{self.path}: line {number}") for number, line in enumerate(every, 1)]

    def hashes(self) -> list[bytes]:
        """The hash of every leaf."""
        return [leaf_hash(line) for line in self.lines()]

    def root(self) -> str:
        """The hash of the tree over all leaves."""
        return root_of(self.hashes()).hex()

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return len(self.lines())

    def append(self, leaves: Sequence[Leaf]) -> None:
        """Write leaves at the end, safe from a power cut. Other processes wait."""
        self.append_lines([leaf.line for leaf in leaves])

    def append_lines(self, lines: Sequence[bytes]) -> None:
        """Write lines of another log at the end, as they are."""
        if not lines:
            return
        with self._alone() as stream:
            _cut_torn_line(stream)
            stream.seek(0, os.SEEK_END)
            stream.write(b"".join(line + b"\n" for line in lines))
            stream.flush()
            os.fsync(stream.fileno())

    def begin(self, leaves: Sequence[Leaf]) -> None:
        """Write the first leaves of a log that is not there yet, all or none."""
        write_atomic(self.path, b"".join(leaf.line + b"\n" for leaf in leaves))

    @contextmanager
    def event(self, leaf: Leaf, file: Path) -> Iterator[None]:
        """Let a leaf enter when the block has written its record or scores to `file`, or removed it.

        Call it with the lock of the results held, as `repair`.
        """
        intent = {"leaf": json.loads(leaf.line), "file": os.path.relpath(file, self.folder)}
        write_json(self.folder / NEXT, intent)
        yield
        self.append([leaf])
        (self.folder / NEXT).unlink(missing_ok=True)

    def repair(self) -> list[str]:
        """What was put right after a harness that was killed, in words.

        To be called while nobody else changes the results.
        """
        notes = []
        if self.path.is_file():
            with self._alone() as stream:
                if cut := _cut_torn_line(stream):
                    notes.append(f"{self.path}: a last line of {cut} bytes was never finished, and was cut")
        if note := self._finish():
            notes.append(note)
        return notes

    def unfinished(self) -> tuple[Leaf | None, str]:
        """The leaf of an event that a killed harness had begun, if it happened; and what is to be told of it."""
        intent = read_plain(self.folder / NEXT)
        if not intent:
            return None, ""
        try:
            leaf = Leaf(**{**intent["leaf"], "kind": Event(intent["leaf"]["kind"])})
            content = read_plain(self.folder / intent["file"], most_bytes=1 << 30)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise CorruptData(
                "this note of an event that had begun is not of the form that the harness writes",
                where=str(self.folder / NEXT),
                todo="remove it; an audit then tells which results no log knows of",
            ) from None
        digest = content.get("digest", "") if isinstance(content, dict) else ""
        if digest == leaf.contents:  # both are empty where a result was removed
            if leaf.line not in self.lines():
                return leaf, "a harness was killed before its last event was in the log; it is now"
        elif not digest and leaf.kind is not Event.SCORE and leaf.key in account_of(self.leaves()).results:
            why = "a harness was killed while it replaced the run"
            removal = Leaf(Event.REMOVAL, now(), leaf.scope, key=leaf.key, note=why)
            return removal, f"{why} of {leaf.scope}; it is to be run again"
        return None, ""

    def _finish(self) -> str:
        """Let the event enter that a killed harness had begun, if it happened."""
        path = self.folder / NEXT
        if not path.is_file():
            return ""
        leaf, note = self.unfinished()
        if leaf is not None:
            self.append([leaf])
        path.unlink(missing_ok=True)
        return note and f"{self.path}: {note}"

    @contextmanager
    def _alone(self) -> Iterator[BinaryIO]:
        """The file, which no other process writes until the block ends."""
        is_new = not self.path.exists()
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield stream
        if is_new:
            sync_folder(self.folder)


def _cut_torn_line(stream: BinaryIO) -> int:
    """The number of bytes after the last line's end, which are gone now."""
    size = stream.seek(0, os.SEEK_END)
    place = size
    while place:
        start = max(0, place - (1 << 16))
        stream.seek(start)
        end = stream.read(place - start).rfind(b"\n")
        if end >= 0:
            place = start + end + 1
            break
        place = start
    if place < size:
        stream.truncate(place)
    return size - place
